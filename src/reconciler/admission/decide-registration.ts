import { isEqual } from '../../shared/engine/json/equal.ts'
import { isMap, type KubeObject } from '../../shared/engine/json/object.ts'
import type { WebhookScopes } from '../../shared/engine/webhook-configuration.ts'

/** That the webhook is to be asked, about what, and what an event about it is told of. */
export interface Wanted {
  readonly kind: 'on'
  readonly scopes: WebhookScopes
  readonly subject: KubeObject
}

/** What the registration follows from; `unknown` says that nothing is known of the cluster: what is registered stays, and is trusted on. */
export type WebhookWish = Wanted | { readonly kind: 'off' } | { readonly kind: 'unknown' }

// Somebody who deletes a configuration breaks the glass on purpose; it stays away this long.
const BREAK_GLASS_MS = 10 * 60_000

/** What to do about one webhook configuration. */
export type RegistrationStep = 'none' | 'apply' | 'delete' | 'wait'

/** What one leader keeps for the next about one webhook configuration. */
export interface RegistrationMemory {
  /** The uid of the owner under which it was seen last, empty without one; undefined where it is not ours to miss. */
  readonly registered: string | undefined
  /** Since when it is away without our doing, epoch milliseconds. */
  readonly missingSince: number | undefined
}

export interface RegistrationView extends RegistrationMemory {
  readonly wanted: KubeObject | undefined
  readonly live: KubeObject | undefined
  /** The name of the ClusterRole that owns our configurations. */
  readonly ownerName: string
  /** The uid of the owner that there is now, empty where there never was one; undefined where it is gone. */
  readonly ownerUid: string | undefined
  readonly now: number
}

export interface RegistrationDecision extends RegistrationMemory {
  readonly step: RegistrationStep
}

/**
 * Decides: wanted and different is applied, unwanted is deleted, deleted by somebody else comes back later. What went
 * with its owner nobody deleted: it comes back with the next owner, at once.
 */
export function decideRegistration(view: RegistrationView): RegistrationDecision {
  const { wanted, live } = view
  if (!wanted) return live ? UNWANTED : GONE
  if (!live) return decideAbsent(view)
  const step = isAsWanted(live, wanted) ? 'none' : 'apply'
  return { step, registered: ownerUidOf(live, view.ownerName), missingSince: undefined }
}

function decideAbsent(view: RegistrationView): RegistrationDecision {
  const { registered, missingSince, ownerUid, now } = view
  const isMissed = registered !== undefined && registered === ownerUid
  // Whoever installs us anew does not wait for glass that was broken before, if only by the end of the last installation.
  const isInstalledAnew = registered !== undefined && ownerUid !== undefined && !isMissed
  if ((missingSince === undefined && !isMissed) || isInstalledAnew)
    return { ...FORGOTTEN, step: 'apply' }
  // Another leader’s clock may have been ahead, or ours was set back: nobody waits for that, too.
  const since = Math.min(missingSince ?? now, now)
  return { step: isBroken(since, now) ? 'wait' : 'apply', registered, missingSince: since }
}

const isBroken = (since: number, now: number) => now - since < BREAK_GLASS_MS
const FORGOTTEN: RegistrationMemory = { registered: undefined, missingSince: undefined }
const UNWANTED: RegistrationDecision = { ...FORGOTTEN, step: 'delete' }
const GONE: RegistrationDecision = { ...FORGOTTEN, step: 'none' }

// The uid of the ClusterRole that a configuration belongs to; empty where it belongs to none.
function ownerUidOf(live: KubeObject, ownerName: string): string {
  const references = ownersOf(live) as readonly { kind: string; name: string; uid: string }[]
  const own = references.find(({ name, kind }) => kind === 'ClusterRole' && name === ownerName)
  return own?.uid ?? ''
}

/** Whether a webhook configuration asks about what is wanted, in the way that is wanted, and about nothing else. */
export const hasWebhooksOf = (live: KubeObject, wanted: KubeObject): boolean =>
  holdsAll(live.webhooks, wanted.webhooks)

/** Whether a webhook configuration has the annotations that are wanted, whatever others it has. */
export const hasAnnotationsOf = (live: KubeObject, wanted: KubeObject): boolean =>
  holdsAll(live.metadata.annotations ?? {}, wanted.metadata.annotations ?? {})

/** Whether a webhook configuration is what is wanted. Somebody else’s annotations and owners beside ours are theirs. */
const isAsWanted = (live: KubeObject, wanted: KubeObject): boolean =>
  hasWebhooksOf(live, wanted) && hasAnnotationsOf(live, wanted) && hasOwnersOf(live, wanted)

const hasOwnersOf = (live: KubeObject, wanted: KubeObject) =>
  ownersOf(wanted).every((owner) => ownersOf(live).some((one) => holdsAll(one, owner)))
const ownersOf = ({ metadata }: KubeObject) =>
  (metadata.ownerReferences ?? []) as readonly unknown[]

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
