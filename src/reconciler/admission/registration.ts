import { WEBHOOK_CONFIGURATION } from '../../shared/baseline/names.ts'
import { ApiError, type Client, isForbidden, isNotFound } from '../../shared/cluster/client.ts'
import { apply, patchJson, pathOf, type Resource, read } from '../../shared/cluster/resource.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import {
  CONFIGURATION_KINDS,
  type ConfigurationKind,
  configurationAt,
} from './configuration-kinds.ts'
import { hasAnnotationsOf, hasWebhooksOf } from './registration-match.ts'
import { withInjected } from './registration-trust.ts'

/**
 * Removes our webhook configurations, whatever else is installed or running. Throws what names the configuration
 * that the user may not delete, when the others are gone.
 */
export async function unregister(client: Client): Promise<void> {
  const refused: string[] = []
  for (const kind of CONFIGURATION_KINDS) {
    await removeConfiguration(client, kind).catch((error: Error) => {
      if (!isForbidden(error)) throw error
      refused.push(`the ${kind} ${WEBHOOK_CONFIGURATION} (${error.message})`)
    })
  }
  if (refused.length > 0)
    throw new Error(
      `you may not delete ${refused.join(' and ')}: run this as somebody who may, such as a cluster admin`,
    )
}

export async function removeConfiguration(client: Client, kind: ConfigurationKind): Promise<void> {
  try {
    await client.send(pathOf(configurationAt(kind), WEBHOOK_CONFIGURATION), { method: 'DELETE' })
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
  const at = configurationAt(wanted.kind as ConfigurationKind)
  const applied = await applyOrRefusal(client, at, wanted)
  const live = applied instanceof ApiError ? await read(client, at, WEBHOOK_CONFIGURATION) : applied
  if (!live) throw applied
  if (live === applied && hasWebhooksOf(live, wanted)) return
  // What is there before the injector was asked for is ours of another time.
  const webhooks = hasAnnotationsOf(live, wanted) ? withInjected(live, wanted) : wanted.webhooks
  await patchJson(client, at, WEBHOOK_CONFIGURATION, [
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
