import { ApiError, type Client, isForbidden, isNotFound } from '../../shared/cluster/client.ts'
import { apply, patchJson, pathOf, type Resource, read } from '../../shared/cluster/resource.ts'
import type { Source } from '../../shared/cluster/store.ts'
import type { Identity } from '../../shared/engine/identity.ts'
import { isMap, type JsonMap, type KubeObject } from '../../shared/engine/json/object.ts'
import { hasAnnotationsOf, hasWebhooksOf } from './decide-registration.ts'

/** The two kinds of webhook configurations. */
export const CONFIGURATION_KINDS = [
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
] as const
export type ConfigurationKind = (typeof CONFIGURATION_KINDS)[number]

/** Where webhook configurations of one kind are found. */
export const configurationsAt = (kind: ConfigurationKind): Resource => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  resource: `${kind.toLowerCase()}s`,
})

/** What is ours of a system's registration, so that whatever somebody deletes or edits of it is noticed. */
export const registrationSources = (
  identity: Identity,
  namespace: string,
  kinds: readonly ConfigurationKind[] = CONFIGURATION_KINDS,
): readonly Source[] => [
  ...kinds.map((kind) => ({
    id: kind,
    at: configurationsAt(kind),
    name: identity.webhookConfiguration,
  })),
  ...[identity.authoritySecret, identity.servingSecret].map((name) => ({
    id: name,
    at: { apiVersion: 'v1', resource: 'secrets', namespace },
    name,
  })),
]

/** Removes a system's webhook configurations. Throws what names those that the user may not delete, when the others are gone. */
export async function unregister(
  client: Client,
  { webhookConfiguration }: Identity,
): Promise<void> {
  const refused: string[] = []
  for (const kind of CONFIGURATION_KINDS) {
    await removeConfiguration(client, kind, webhookConfiguration).catch((error: Error) => {
      if (!isForbidden(error)) throw error
      refused.push(`the ${kind} ${webhookConfiguration} (${error.message})`)
    })
  }
  if (refused.length > 0)
    throw new Error(
      `you may not delete ${refused.join(' and ')}: run this as somebody who may, such as a cluster admin`,
    )
}

export async function removeConfiguration(
  client: Client,
  kind: ConfigurationKind,
  name: string,
): Promise<void> {
  try {
    await client.send(pathOf(configurationsAt(kind), name), { method: 'DELETE' })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/**
 * Makes a webhook configuration what is wanted. An apply leaves what somebody else set beside ours: another webhook, or
 * a URL beside the Service, which the server refuses. Then all webhooks are replaced. Throws the server's refusal where
 * there is nothing to replace, and ApiError 409 where somebody wrote it meanwhile.
 */
export async function applyConfiguration(client: Client, wanted: KubeObject): Promise<void> {
  const at = configurationsAt(wanted.kind as ConfigurationKind)
  const { name } = wanted.metadata
  const applied = await applyOrRefusal(client, at, wanted)
  const live = applied instanceof ApiError ? await read(client, at, name) : applied
  if (!live) throw applied
  if (live === applied && hasWebhooksOf(live, wanted)) return
  // What is there before the injector was asked for is ours of another time.
  const webhooks = hasAnnotationsOf(live, wanted) ? withInjected(live, wanted) : wanted.webhooks
  await patchJson(client, at, name, [
    { op: 'test', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    { op: 'replace', path: '/webhooks', value: webhooks },
  ])
}

const applyOrRefusal = (
  client: Client,
  at: Resource,
  wanted: KubeObject,
): Promise<KubeObject | ApiError> =>
  apply(client, at, wanted).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 422) return error
    throw error
  })

/** Has the configuration trust our webhooks by these authorities, PEM, and leaves all else. ApiError 409 where it is gone, or is another. */
export async function applyBundle(
  client: Client,
  live: KubeObject,
  domain: string,
  bundle: string,
): Promise<void> {
  const { apiVersion, kind, metadata } = live
  const { name, uid = '', ownerReferences = [] } = metadata
  // All that is ours is stated again, since what an apply no longer states goes.
  await apply(client, configurationsAt(kind as ConfigurationKind), {
    apiVersion,
    kind,
    metadata: { name, uid, ownerReferences },
    webhooks: ownWebhooksOf(live, domain).map((webhook) => withBundle(webhook, btoa(bundle))),
  })
}

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

/** The webhooks that are wanted, with the authorities that somebody else injected into those that are there. */
const withInjected = (live: KubeObject, wanted: KubeObject): readonly unknown[] =>
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
// Those whose names end with the domain.
const ownWebhooksOf = (live: KubeObject, domain: string) =>
  webhooksOf(live).filter(({ name }) => String(name).endsWith(domain))
