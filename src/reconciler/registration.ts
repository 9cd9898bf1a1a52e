import { WEBHOOK_CONFIGURATION } from '../shared/catalog/names.ts'
import { type Client, isNotFound } from '../shared/cluster/client.ts'
import { apply, pathOf, type Resource } from '../shared/cluster/resource.ts'
import { isEqual } from '../shared/engine/equal.ts'
import { isMap, type KubeObject } from '../shared/engine/object.ts'

/** The two kinds of webhook configurations, and where they are found. */
export const CONFIGURATION_KINDS = [
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
] as const
export type ConfigurationKind = (typeof CONFIGURATION_KINDS)[number]

export const configurationAt = (kind: ConfigurationKind): Resource => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  resource: `${kind.toLowerCase()}s`,
})

// Somebody who deletes a configuration breaks the glass on purpose; it stays away this long.
const BREAK_GLASS_MS = 10 * 60_000

/** What to do about one webhook configuration. */
export type RegistrationStep = 'none' | 'apply' | 'delete' | 'wait'

export interface RegistrationView {
  readonly wanted: KubeObject | undefined
  readonly live: KubeObject | undefined
  /** When it went away without our doing, epoch milliseconds. */
  readonly missingSince: number | undefined
  readonly now: number
}

/** Decides: wanted and different is applied, unwanted is deleted, deleted by someone else comes back later. */
export function registrationStep({
  wanted,
  live,
  missingSince,
  now,
}: RegistrationView): RegistrationStep {
  if (!wanted) return live ? 'delete' : 'none'
  if (live) return holdsAll(live, wanted) ? 'none' : 'apply'
  return missingSince !== undefined && now - missingSince < BREAK_GLASS_MS ? 'wait' : 'apply'
}

/** Removes our webhook configurations, whatever else is installed or running. */
export async function unregister(client: Client): Promise<void> {
  for (const kind of CONFIGURATION_KINDS) await removeConfiguration(client, kind)
}

export async function removeConfiguration(client: Client, kind: ConfigurationKind): Promise<void> {
  try {
    await client.send(pathOf(configurationAt(kind), WEBHOOK_CONFIGURATION), { method: 'DELETE' })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

export const applyConfiguration = (client: Client, wanted: KubeObject) =>
  apply(client, configurationAt(wanted.kind as ConfigurationKind), wanted)

// Whether live holds everything that is wanted; what the server added by default does not count.
function holdsAll(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, index) => holdsAll(live[index], item))
    )
  }
  if (!isMap(wanted)) return isEqual(live, wanted)
  return isMap(live) && Object.entries(wanted).every(([key, value]) => holdsAll(live[key], value))
}
