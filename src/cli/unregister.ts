import { unregister } from '../reconciler/admission/webhook-configurations.ts'
import { BASELINE } from '../shared/baseline/names.ts'
import { connect } from '../shared/cluster/client.ts'
import { loadKubeconfig } from '../shared/cluster/kubeconfig.ts'

/** The `unregister` command: the cluster's writes no longer pass through us. Safe to repeat. */
export async function unregisterWebhook({
  kubeconfig,
}: {
  readonly kubeconfig?: string
}): Promise<void> {
  const client = await connect(loadKubeconfig(kubeconfig))
  try {
    await unregister(client, BASELINE)
    process.stdout.write('the webhook configurations are gone\n')
  } finally {
    await client.close()
  }
}
