import { WEBHOOK_CONFIGURATION } from '../../src/shared/baseline/names.ts'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import type { Bench } from './cluster.ts'

/** The certificates by which the API server knows our webhook. */
export async function authority({ client }: Pick<Bench, 'client'>): Promise<string> {
  const at = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    resource: 'mutatingwebhookconfigurations',
  }
  const { body } = await client.send(pathOf(at, WEBHOOK_CONFIGURATION))
  const { webhooks } = body as { webhooks: readonly { clientConfig: { caBundle: string } }[] }
  return Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString()
}
