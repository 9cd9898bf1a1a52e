import { isMap, type JsonMap, type KubeObject } from '../../shared/engine/json/object.ts'

/** The authorities that a configuration of ours trusts the webhook by, PEM; undefined where there is no configuration. */
export function bundleOf(live: KubeObject | undefined): string | undefined {
  const [webhook] = live ? webhooksOf(live) : []
  if (!isMap(webhook?.clientConfig)) return undefined
  return Buffer.from(String(webhook.clientConfig.caBundle ?? ''), 'base64').toString()
}

/** Whether each webhook of ours in a configuration trusts exactly these authorities, PEM. */
export const isTrustedBy = (live: KubeObject, domain: string, bundle: string): boolean =>
  ownWebhooksOf(live, domain).every(
    ({ clientConfig }) => isMap(clientConfig) && clientConfig.caBundle === btoa(bundle),
  )

/** Our webhooks of a configuration, those whose names end with the domain, trusted by these authorities, PEM. */
export const trusting = (live: KubeObject, domain: string, bundle: string): readonly JsonMap[] =>
  ownWebhooksOf(live, domain).map((webhook) => withBundle(webhook, btoa(bundle)))

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
const ownWebhooksOf = (live: KubeObject, domain: string) =>
  webhooksOf(live).filter(({ name }) => String(name).endsWith(domain))
