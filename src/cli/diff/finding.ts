import type { AssetDiff, ComparedCluster } from '../../reconciler/baseline/cluster-diff.ts'
import type { Outcome } from '../../reconciler/baseline/decide/outcome.ts'
import type { EffectOnPool } from '../../reconciler/baseline/report/disruption-text.ts'
import { describeOutcome } from '../../reconciler/baseline/report/outcome-text.ts'
import { type Asset, namespaceOf } from '../../shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../shared/baseline/facts/facts.ts'
import { reachOf } from '../../shared/baseline/facts/pools.ts'
import { titleOf } from '../../shared/engine/json/object.ts'
import type { Drift } from '../../shared/engine/merge/merge.ts'

/** What the product would do about one asset, in words that need no code of ours to be understood. */
export type Finding = Subject & (Change | NoChange | Unknown)

/** The asset, and its object. */
export interface Subject {
  readonly asset: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export interface Change {
  readonly action: 'create' | 'change' | 'delete'
  readonly drifts: readonly Drift[]
  /** Of a deletion: why the object is not wanted. */
  readonly why?: string
  readonly disruption?: EffectOnPool
  /** What the change would wait for before it is made. */
  readonly waitsFor?: 'approval' | 'pool'
  /** With `pool`: the names of those that are paused or at work. */
  readonly busyPools?: readonly string[]
  /** Why it is only what we expect, the API server not having been asked. */
  readonly unconfirmed?: string
}

export interface NoChange {
  readonly action: 'none'
  readonly reason: string
  readonly message: string
  /** A person who wants the asset has something to mend. */
  readonly isObstacle: boolean
}

/** The asset could not be compared. */
export interface Unknown {
  readonly action: 'unknown'
  readonly message: string
}

/** What must be known of the cluster to tell a finding. */
export interface Surroundings {
  readonly hcoNamespace: string
  readonly facts: Pick<Facts, 'pools' | 'heirs'>
}

/** What the product would do about an asset, given what was seen of it. */
export function findingOf(diff: AssetDiff, surroundings: Surroundings): Finding {
  const { asset } = diff
  const subject = subjectOf(asset, surroundings)
  if ('error' in diff) return { ...subject, action: 'unknown', message: diff.error.message }
  return { ...subject, ...verdictOn(asset, diff.outcome, surroundings) }
}

/** The same of every asset of a cluster. */
export function findingsIn({ evaluation: { facts }, assets }: ComparedCluster): readonly Finding[] {
  const surroundings = { hcoNamespace: facts.hco.namespace, facts }
  return assets.map((diff) => findingOf(diff, surroundings))
}

/** Whether the change waits for an approval, as only one that reboots nodes does. */
export const isUnapprovedReboot = (finding: Finding) =>
  'waitsFor' in finding && finding.waitsFor === 'approval'

/** The object as people name it, and its asset. */
export const headOf = ({ asset, kind, namespace, name }: Subject) =>
  `${titleOf({ kind, metadata: { name, namespace } })} (${asset})`

function subjectOf(asset: Asset, { hcoNamespace }: Surroundings): Subject {
  const { kind, name } = asset.object
  const namespace = namespaceOf(asset, hcoNamespace)
  return { asset: asset.name, kind, ...(namespace !== undefined && { namespace }), name }
}

function verdictOn(
  asset: Asset,
  outcome: Outcome,
  surroundings: Surroundings,
): Change | NoChange | Unknown {
  switch (outcome.kind) {
    case 'pending':
    case 'pendingRemoval':
      return changeOf(asset, outcome, surroundings)
    case 'failed':
      return { action: 'unknown', message: outcome.message }
    default:
      return noChangeOf(asset, outcome)
  }
}

type Waiting = Extract<Outcome, { kind: 'pending' | 'pendingRemoval' }>

function changeOf(asset: Asset, outcome: Waiting, { facts }: Surroundings): Change {
  const { disruption, busyPools } = outcome
  const { pool = '' } = asset
  const waitsFor = WAITS[outcome.reason]
  return {
    ...actionOf(outcome),
    ...(disruption && { disruption: { ...disruption, ...reachOf(pool, facts) } }),
    ...(waitsFor && { waitsFor }),
    ...(busyPools && { busyPools }),
  }
}

const WAITS = { Observing: undefined, Held: 'approval', PoolBusy: 'pool' } as const

function actionOf(outcome: Waiting): Pick<Change, 'action' | 'drifts' | 'why' | 'unconfirmed'> {
  if (outcome.kind === 'pendingRemoval') return { action: 'delete', drifts: [], why: outcome.why }
  const { isCreation, drifts, unconfirmed } = outcome
  const doubt = unconfirmed === undefined ? {} : { unconfirmed }
  return { action: isCreation ? 'create' : 'change', drifts, ...doubt }
}

function noChangeOf(
  asset: Asset,
  outcome: Exclude<Outcome, Waiting | { kind: 'failed' }>,
): NoChange | Unknown {
  const { message, fields, events } = describeOutcome({ asset, outcome })
  const because = typeof fields.because === 'string' ? fields.because : undefined
  const told = events[0]?.note ?? because ?? message
  const reason = 'reason' in outcome ? outcome.reason : REASONS[outcome.kind]
  if (reason === 'SchemaMissing') return { action: 'unknown', message: told }
  return { action: 'none', reason, message: told, isObstacle: OBSTACLES.has(reason) }
}

/** What an outcome that gives no reason of its own is called. */
const REASONS = {
  unchanged: 'InSync',
  created: 'Created',
  configured: 'Configured',
  throttled: 'Throttled',
  held: 'Held',
  leftover: 'Leftover',
  gone: 'Absent',
  removed: 'Absent',
  stuck: 'Stuck',
} as const

/** What keeps an asset from being kept although nobody has opted out of it. */
const OBSTACLES: ReadonlySet<string> = new Set([
  'Held',
  'Stuck',
  'NamespaceMissing',
  'DependencyMissing',
  'NotOurs',
])
