import { type Client, connect } from '../shared/cluster/client.ts'
import { loadKubeconfig } from '../shared/cluster/kubeconfig.ts'
import type { CatalogOptions } from './assets.ts'

/** Which cluster a command is about, and which assets. */
export interface ClusterOptions extends CatalogOptions {
  readonly kubeconfig?: string
}

/** Calls `work` with a client of the cluster, and closes it then. */
export async function withClient<Result>(
  { kubeconfig }: Pick<ClusterOptions, 'kubeconfig'>,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = await connect(loadKubeconfig(kubeconfig))
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}
