import { PAUSE_FIELD_MANAGER } from '../../../shared/baseline/annotations.ts'
import type { MissedApi } from '../../../shared/baseline/asset-status.ts'
import { type Asset, namespaceOf } from '../../../shared/baseline/catalog/catalog.ts'
import { type Activation, standbyReason } from '../../../shared/baseline/settings/activation.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { ReconcilerMetrics } from '../../../shared/ops/metrics.ts'
import { CLAIMS, type Outcome, type Report, reasonOf } from '../decide/outcome.ts'

/** Sets an asset's series by its outcome, and removes those of states that it left. */
export function countOutcome(metrics: ReconcilerMetrics, report: Report): void {
  const { asset, outcome, object, hco, durationMs } = report
  const labels = labelsOf(asset, hco)
  metrics.duration.observe(labels, durationMs / 1000)
  setOrRemove(metrics.pendingDisruption, labels, isHeldUp(outcome))
  if (asset.isTombstone) countTombstone(metrics, labels, outcome)
  else countAsset(metrics, labels, outcome, object)
}

function countAsset(
  metrics: ReconcilerMetrics,
  labels: Labels,
  outcome: Outcome,
  object: KubeObject | undefined,
): void {
  setOrRemove(metrics.compliance, labels, COMPLIANCE[outcome.kind])
  setOrRemove(metrics.paused, labels, reasonOf(outcome) === 'Paused')
  setOrRemove(metrics.thrashingActive, labels, isAtWar(outcome, object))
  if (outcome.kind === 'throttled' && outcome.isPaused) metrics.thrashing.inc(labels)
  const plan = 'plan' in outcome ? outcome.plan : undefined
  const customizations = {
    patch: plan?.isPatched,
    ignore: plan && plan.released.length > 0,
    unmanaged: reasonOf(outcome) === 'Unmanaged',
  }
  for (const [type, isSet] of Object.entries(customizations))
    setOrRemove(metrics.customization, { ...labels, type }, isSet)
}

/** Sets the series of an API that an asset misses, and removes that of the one before, unless others miss it still. */
export function countMissed(
  { missingDependency }: ReconcilerMetrics,
  before: MissedApi | undefined,
  missed: MissedApi | undefined,
  all: Iterable<MissedApi>,
): void {
  if (before && ![...all].some((api) => isEqual(api, before)))
    missingDependency.remove({ ...before })
  if (missed) missingDependency.set({ ...missed }, 1)
}

const isHeldUp = (outcome: Outcome) =>
  (outcome.kind === 'pending' || outcome.kind === 'pendingRemoval') &&
  outcome.reason !== 'Observing'

// The field manager of the pause tells whose it is, so that a new leader knows.
const isAtWar = (outcome: Outcome, object: KubeObject | undefined) =>
  outcome.kind === 'throttled' || (reasonOf(outcome) === 'Paused' && isPausedByUs(object))

const isPausedByUs = (object: KubeObject | undefined) =>
  (object?.metadata.managedFields ?? []).some(({ manager }) => manager === PAUSE_FIELD_MANAGER)

/** What a tombstone's object is like: 0 gone, 1 to be deleted, -1 failed or stuck, -2 somebody else's. */
function countTombstone(metrics: ReconcilerMetrics, labels: Labels, outcome: Outcome): void {
  setOrRemove(metrics.tombstone, labels, tombstoneStatus(outcome))
  if (outcome.kind === 'removed') metrics.tombstoneDeletions.inc({ result: 'deleted' })
}

function tombstoneStatus(outcome: Outcome): number | undefined {
  if (outcome.kind === 'gone' || outcome.kind === 'removed') return 0
  if (outcome.kind === 'stuck') return -1
  if (outcome.kind === 'held') return -2
  if (outcome.kind === 'pendingRemoval' || reasonOf(outcome) === 'Deleting') return 1
  return CLAIMS.has(reasonOf(outcome) ?? '') ? -2 : undefined
}

/** Records what the HyperConverged says of the whole product; an observer writes nothing, whatever it says. */
export function countActivation(
  { activation, standingBy }: ReconcilerMetrics,
  stated: Activation,
  isObserver: boolean,
): void {
  const { kind } = stated
  activation.reset()
  activation.set({ mode: isObserver && kind !== 'off' ? 'observe' : kind }, 1)
  standingBy.reset()
  const reason = standbyReason(stated)
  // An observer would not write anyway, nor does whoever was told to observe.
  const isWished = isObserver || (kind === 'observe' && stated.isWished)
  if (reason && !isWished) standingBy.set({ reason }, 1)
}

/** Removes every series of an asset, and of the activation: they are the leader's, and only while it sees the cluster. */
export function resetSeries(metrics: ReconcilerMetrics): void {
  for (const name of LEADERS_SERIES) metrics[name].reset()
}

const LEADERS_SERIES = [
  'compliance',
  'paused',
  'pendingDisruption',
  'customization',
  'missingDependency',
  'thrashingActive',
  'tombstone',
  'activation',
  'standingBy',
] as const

/** Records that an asset could not be brought, or not even compared, to its desired state. */
export function countFailure(metrics: ReconcilerMetrics, asset: Asset, hco: KubeObject): void {
  const labels = labelsOf(asset, hco)
  if (asset.isTombstone) {
    metrics.tombstone.set(labels, -1)
    metrics.tombstoneDeletions.inc({ result: 'failed' })
  } else metrics.compliance.set(labels, 0)
}

const labelsOf = (asset: Asset, hco: KubeObject) => ({
  kind: asset.object.kind,
  namespace: namespaceOf(asset, hco.metadata.namespace ?? '') ?? '',
  name: asset.object.name,
})

type Labels = Readonly<Record<string, string>>

interface Series {
  set(labels: Labels, value: number): void
  remove(labels: Labels): void
}

const setOrRemove = (series: Series, labels: Labels, value: number | boolean | undefined) =>
  value === undefined || value === false ? series.remove(labels) : series.set(labels, Number(value))

const COMPLIANCE: Readonly<Record<Outcome['kind'], 0 | 1 | undefined>> = {
  unchanged: 1,
  created: 1,
  configured: 1,
  pending: 0,
  throttled: 0,
  held: 0,
  failed: 0,
  skipped: undefined,
  leftover: undefined,
  gone: undefined,
  removed: undefined,
  pendingRemoval: undefined,
  stuck: undefined,
}
