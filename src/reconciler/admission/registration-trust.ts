import { isOwnWebhook } from '../../shared/baseline/generated/webhook-rules.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { apply } from '../../shared/cluster/resource.ts'
import { isMap, type JsonMap, type KubeObject } from '../../shared/engine/json/object.ts'
import { type ConfigurationKind, configurationAt } from './configuration-kinds.ts'

/** The authorities that a configuration of ours trusts the webhook by, PEM; undefined where there is no configuration. */
export function bundleOf(live: KubeObject | undefined): string | undefined {
  const [webhook] = live ? webhooksOf(live) : []
  if (!isMap(webhook?.clientConfig)) return undefined
  return Buffer.from(String(webhook.clientConfig.caBundle ?? ''), 'base64').toString()
}

/** Whether each webhook of ours in a configuration trusts exactly these authorities, PEM. */
export const isTrustedBy = (live: KubeObject, bundle: string): boolean =>
  ownWebhooksOf(live).every(
    ({ clientConfig }) => isMap(clientConfig) && clientConfig.caBundle === btoa(bundle),
  )

/**
 * Has the configuration that is there trust the webhook by these authorities, PEM, and leaves all else as it is. Throws
 * ApiError 409 where it is gone, or is another.
 */
export async function trustBy(client: Client, live: KubeObject, bundle: string): Promise<void> {
  const { apiVersion, kind, metadata } = live
  const { name, uid = '', ownerReferences = [] } = metadata
  // All that is ours is stated again, since what an apply no longer states goes.
  await apply(client, configurationAt(kind as ConfigurationKind), {
    apiVersion,
    kind,
    metadata: { name, uid, ownerReferences },
    webhooks: ownWebhooksOf(live).map((webhook) => withBundle(webhook, btoa(bundle))),
  })
}

/** The webhooks that are wanted, with the authorities that somebody else injected into those that are there. */
export const withInjected = (live: KubeObject, wanted: KubeObject): readonly unknown[] =>
  webhooksOf(wanted).map((webhook) => {
    const found = webhooksOf(live).find(({ name }) => name === webhook.name)
    const { caBundle } = isMap(found?.clientConfig) ? found.clientConfig : {}
    const isStated = isMap(webhook.clientConfig) && webhook.clientConfig.caBundle !== undefined
    return isStated || caBundle === undefined ? webhook : withBundle(webhook, caBundle)
  })

const withBundle = (webhook: JsonMap, caBundle: unknown): JsonMap => ({
  ...webhook,
  clientConfig: { ...(isMap(webhook.clientConfig) && webhook.clientConfig), caBundle },
})

const webhooksOf = ({ webhooks }: KubeObject): readonly JsonMap[] =>
  Array.isArray(webhooks) ? webhooks.filter(isMap) : []
const ownWebhooksOf = (live: KubeObject) =>
  webhooksOf(live).filter(({ name }) => isOwnWebhook(String(name)))
