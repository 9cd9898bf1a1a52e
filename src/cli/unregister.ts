import { unregister } from '../reconciler/admission/webhook-configurations.ts'
import { BASELINE } from '../shared/baseline/names.ts'
import { withClient } from './with-client.ts'

/** The `unregister` command: the cluster's writes no longer pass through us. Safe to repeat. */
export async function unregisterWebhook(options: { readonly kubeconfig?: string }): Promise<void> {
  await withClient(options, (client) => unregister(client, BASELINE))
  process.stdout.write('the webhook configurations are gone\n')
}
