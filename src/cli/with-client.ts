import { type Client, connect } from '../shared/cluster/client.ts'
import { loadKubeconfig } from '../shared/cluster/kubeconfig.ts'

/** Calls `work` with a client of the cluster, and closes it then. */
export async function withClient<Result>(
  { kubeconfig }: { readonly kubeconfig?: string },
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = await connect(loadKubeconfig(kubeconfig))
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}
