import { cut } from '../../engine/format-value.ts'
import { annotationOf, type KubeObject } from '../../engine/json/object.ts'
import { type Inventory, type InventoryItem, refOfItem } from '../inventory.ts'
import { keyOf, type ObjectRef, titleOf } from '../node.ts'
import { verdictOf } from '../ownership.ts'
import { describeTermination } from '../readiness/readiness.ts'
import type { DeleteAction } from '../step/action.ts'
import type { StepInput } from '../step/step.ts'
import { timeOf } from '../time.ts'
import { deletionOrder } from './deletion-order.ts'
import { retentionOf } from './retention.ts'
import { otherItems } from './same-object.ts'

/** An object that stays although it should go, or goes slowly: which, why, since when. */
export interface Obstacle {
  readonly ref: ObjectRef
  readonly reason: 'Terminating' | 'Protected' | 'Failed' | 'Unreadable' | 'GracePeriod'
  readonly message: string
  /** Milliseconds, where it is known. */
  readonly since?: number
}

/** An object that the inventory lets go without deleting it, and why; to be told once. */
export interface Release {
  readonly item: InventoryItem
  readonly reason: 'Orphaned' | 'Retained' | 'NotOurs' | 'SameObject' | 'NeverMade'
  readonly message: string
}

export type PruneInput = Pick<
  StepInput,
  'observed' | 'owner' | 'names' | 'deletionPolicy' | 'now'
> & {
  /** What is to go. */
  readonly going: Inventory
  /** What is not, and must not go by another name. */
  readonly staying?: Inventory
  /** How long it stays after it left the graph; undefined where the graph itself goes. */
  readonly graceSeconds?: number
}

export interface Pruned {
  /** What the inventory holds from now on in the place of each item. */
  readonly remaining: ReadonlyMap<InventoryItem, Inventory>
  readonly actions: readonly DeleteAction[]
  readonly obstacles: readonly Obstacle[]
  readonly releases: readonly Release[]
  readonly lookAgainAt?: number
}

/** What is to become of one item now. */
type Fate =
  | { readonly kind: 'gone' }
  | { readonly kind: 'released'; readonly release: Release }
  | { readonly kind: 'kept'; readonly obstacle?: Obstacle; readonly lookAgainAt?: number }
  | { readonly kind: 'deleted'; readonly live: KubeObject; readonly obstacle?: Obstacle }

/** Deletes what is to go, dependents first: what others still depend on waits until these are gone. */
export function prune(input: PruneInput): Pruned {
  const fates = fatesOf(input)
  const decided = [...fates]
  const times = decided.flatMap(([, fate]) =>
    fate.kind === 'kept' && fate.lookAgainAt !== undefined ? [fate.lookAgainAt] : [],
  )
  return {
    remaining: new Map(decided.map(([item, fate]) => [item, itemAfter(item, fate)])),
    actions: decided.flatMap(([item, fate]) =>
      fate.kind === 'deleted' ? [deleteAction(item, fate.live)] : [],
    ),
    obstacles: decided.flatMap(([, fate]) =>
      'obstacle' in fate && fate.obstacle ? [fate.obstacle] : [],
    ),
    releases: decided.flatMap(([, fate]) => (fate.kind === 'released' ? [fate.release] : [])),
    ...(times.length > 0 && { lookAgainAt: Math.min(...times) }),
  }
}

const itemAfter = (item: InventoryItem, { kind }: Fate): Inventory => {
  if (kind === 'gone' || kind === 'released') return []
  return [kind === 'deleted' ? { ...item, state: 'Pruned' } : item]
}

const deleteAction = (
  item: InventoryItem,
  { metadata: { uid = '', resourceVersion } }: KubeObject,
): DeleteAction => ({
  kind: 'delete',
  key: keyOf(item),
  id: item.id,
  ref: refOfItem(item),
  uid,
  ...(resourceVersion && { resourceVersion }),
})

/** Dependents first, so that of each item it is known whether something that needs it is still there. */
function fatesOf(input: PruneInput): ReadonlyMap<InventoryItem, Fate> {
  const { going, staying = [], observed } = input
  const retained = going.filter((item) => retentionIn(item, input))
  const otherItemOf = otherItems(going, [...retained, ...staying], observed.objects)
  const needed = new Set<string>()
  const fates = new Map<InventoryItem, Fate>()
  for (const group of deletionOrder(going)) {
    for (const item of group) {
      const other = otherItemOf(item)
      const fate = other ? sameAs(item, other) : fateOf(item, needed.has(item.id), input)
      fates.set(item, fate)
    }
    const remaining = group.filter((item) => isStillThere(fates.get(item)))
    for (const id of remaining.flatMap(({ dependsOn = [] }) => dependsOn)) needed.add(id)
  }
  return fates
}

const isStillThere = (fate: Fate | undefined) => fate?.kind === 'kept' || fate?.kind === 'deleted'

const retentionIn = (item: InventoryItem, { deletionPolicy, graceSeconds }: PruneInput) =>
  retentionOf(item, deletionPolicy, graceSeconds === undefined)

const sameAs = (item: InventoryItem, other: InventoryItem): Fate =>
  released(item, 'SameObject', `is one object with ${titleOf(other)}: it goes or stays as that`)

function fateOf(item: InventoryItem, isNeeded: boolean, input: PruneInput): Fate {
  const observation = input.observed.objects.get(keyOf(item))
  if (observation?.state === 'absent') return { kind: 'gone' }
  const retention = retentionIn(item, input)
  if (retention) return released(item, retention.reason, retention.message)
  if (!observation) return { kind: 'kept' }
  if (observation.state === 'unreadable' && observation.isUnserved && wasNeverSeen(item))
    return released(
      item,
      'NeverMade',
      'is let go: its kind is not served, and nothing tells that it was ever made',
    )
  if (observation.state === 'unreadable')
    return kept(item, 'Unreadable', `cannot be read: ${observation.reason}`)
  return fateOfLive(item, observation.object, isNeeded, input)
}

/** No apply was answered with it, and no pass has met it. */
const wasNeverSeen = ({ uid, state }: InventoryItem) => uid === undefined && state !== 'Pruned'

function fateOfLive(
  item: InventoryItem,
  live: KubeObject,
  isNeeded: boolean,
  input: PruneInput,
): Fate {
  const lost = strangerIn(item, live, input)
  if (lost) return lost
  const { deletionTimestamp } = live.metadata
  if (deletionTimestamp)
    return kept(item, 'Terminating', describeTermination(live), timeOf(deletionTimestamp))
  const { protectionAnnotation } = input.names
  if (annotationOf(live, protectionAnnotation) === 'true')
    return kept(
      item,
      'Protected',
      `is kept by its annotation ${protectionAnnotation}; to let it go: kubectl annotate ${item.kind.toLowerCase()} ${item.name}${item.namespace ? ` -n ${item.namespace}` : ''} ${protectionAnnotation}-`,
    )
  return (
    withinGrace(item, live, input) ?? (isNeeded ? { kind: 'kept' } : dueDelete(item, live, input))
  )
}

/** The fate of an object that is not the one that was applied: it was never ours, or is not any more. */
function strangerIn(item: InventoryItem, live: KubeObject, { owner, names }: PruneInput) {
  const verdict = verdictOf(live, owner, names, item.uid)
  if (verdict.kind === 'ours' || verdict.kind === 'restored') return undefined
  if (item.uid === undefined) return { kind: 'gone' } as const
  const by = verdict.kind === 'owned' ? `belongs to ${verdict.by} now` : 'is another object now'
  return released(item, 'NotOurs', `${by}: it is left as it is`)
}

function withinGrace(item: InventoryItem, live: KubeObject, input: PruneInput): Fate | undefined {
  const { graceSeconds, names, now } = input
  if (graceSeconds === undefined) return undefined
  const { gracePeriodAnnotation } = names
  const text = annotationOf(live, gracePeriodAnnotation)
  const seconds = text === undefined ? graceSeconds : secondsOf(text)
  if (seconds === undefined) {
    const message = `is kept: its annotation ${gracePeriodAnnotation} is "${cut(text ?? '', 40)}", which is no duration such as 30, 30s, 5m or 1h`
    return kept(item, 'GracePeriod', message, item.removedAt)
  }
  const until = (item.removedAt ?? now) + seconds * 1_000
  if (until <= now) return undefined
  const message = `is deleted ${seconds} s after it left the graph`
  return { ...kept(item, 'GracePeriod', message, item.removedAt), lookAgainAt: until }
}

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600 }

function secondsOf(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smh]?)$/.exec(text) ?? []
  return digits === '' ? undefined : Number(digits) * (UNITS[unit] ?? 1)
}

function dueDelete(item: InventoryItem, live: KubeObject, { observed, now }: PruneInput): Fate {
  const failure = observed.memory.get(keyOf(item))?.failure
  // One that has a hash is of an apply.
  if (!failure || failure.hash !== undefined) return { kind: 'deleted', live }
  const failed = kept(item, 'Failed', `cannot be deleted: ${failure.message}`, failure.since)
  return failure.retryAt > now
    ? { ...failed, lookAgainAt: failure.retryAt }
    : { kind: 'deleted', live, obstacle: failed.obstacle }
}

const kept = (
  item: InventoryItem,
  reason: Obstacle['reason'],
  message: string,
  since?: number,
) => ({
  kind: 'kept' as const,
  obstacle: {
    ref: refOfItem(item),
    reason,
    message: `${titleOf(item)} ${message}`,
    ...(since !== undefined && { since }),
  },
})

const released = (item: InventoryItem, reason: Release['reason'], message: string): Fate => ({
  kind: 'released',
  release: { item, reason, message: `${titleOf(item)} ${message}` },
})
