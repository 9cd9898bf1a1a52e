import { type Asset, namespaceOf } from '../../../shared/baseline/catalog/catalog.ts'
import { type Activation, standbyReason } from '../../../shared/baseline/settings/activation.ts'
import type { MissedApi } from '../../../shared/baseline/standing.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { PAUSE_FIELD_MANAGER } from '../../../shared/engine/overrides/annotations.ts'
import type { ReconcilerMetrics } from '../../../shared/ops/metrics.ts'
import { type Outcome, type Report, reasonOf } from '../decide/outcome.ts'

/** Creates a function that brings an asset's series up to its outcome; a state that the outcome left keeps no series. */
export function createOutcomeCounter(metrics: ReconcilerMetrics): (report: Report) => void {
  const countMissing = createMissingCounter(metrics)
  return (report) => {
    const labels = labelsOf(report.asset, report.hco)
    metrics.duration.observe(labels, report.durationMs / 1000)
    setOrRemove(metrics.pendingDisruption, labels, flag(isHeldUp(report.outcome)))
    if (report.asset.isTombstone) return countTombstone(metrics, labels, report.outcome)
    countAsset(metrics, labels, report)
    countMissing(report)
  }
}

function countAsset(metrics: ReconcilerMetrics, labels: Labels, { outcome, object }: Report): void {
  setOrRemove(metrics.compliance, labels, complianceOf(outcome))
  setOrRemove(metrics.paused, labels, flag(reasonOf(outcome) === 'Paused'))
  setOrRemove(metrics.thrashingActive, labels, flag(isAtWar(outcome, object)))
  if (outcome.kind === 'throttled' && outcome.isPaused) metrics.thrashing.inc(labels)
  const types = customizationsOf(outcome)
  for (const type of ['patch', 'ignore', 'unmanaged']) {
    setOrRemove(metrics.customization, { ...labels, type }, flag(types.includes(type)))
  }
}

function createMissingCounter(metrics: ReconcilerMetrics) {
  const missedBy = new Map<string, MissedApi>()
  return ({ asset, outcome }: Report) => {
    const before = missedBy.get(asset.name)
    const missed = outcome.kind === 'skipped' ? outcome.missed : undefined
    if (missed) missedBy.set(asset.name, missed)
    else missedBy.delete(asset.name)
    // Several assets may miss one API.
    const isMissedStill = before && [...missedBy.values()].some((api) => isEqual(api, before))
    if (before && !isMissedStill) metrics.missingDependency.remove({ ...before })
    if (missed) metrics.missingDependency.set({ ...missed }, 1)
  }
}

const isHeldUp = (outcome: Outcome) =>
  (outcome.kind === 'pending' || outcome.kind === 'pendingRemoval') &&
  outcome.reason !== 'Observing'

// Whose pause it is the object itself says, so that a new leader knows.
const isAtWar = (outcome: Outcome, object: KubeObject | undefined) =>
  outcome.kind === 'throttled' || (reasonOf(outcome) === 'Paused' && isPausedByUs(object))

const isPausedByUs = (object: KubeObject | undefined) =>
  (object?.metadata.managedFields ?? []).some(({ manager }) => manager === PAUSE_FIELD_MANAGER)

/** What a tombstone's object is like: 0 gone, 1 to be deleted, -1 failed or stuck, -2 somebody else's. */
function countTombstone(metrics: ReconcilerMetrics, labels: Labels, outcome: Outcome): void {
  setOrRemove(metrics.tombstone, labels, tombstoneStatus(outcome))
  if (outcome.kind === 'removed' && outcome.was)
    metrics.tombstoneDeletions.inc({ result: 'deleted' })
}

function tombstoneStatus(outcome: Outcome): number | undefined {
  if (outcome.kind === 'removed') return 0
  if (outcome.kind === 'stuck') return -1
  if (outcome.kind === 'held') return -2
  if (outcome.kind === 'pendingRemoval' || reasonOf(outcome) === 'Deleting') return 1
  return CLAIMED.has(reasonOf(outcome) ?? '') ? -2 : undefined
}

const CLAIMED: ReadonlySet<string> = new Set(['NotOurs', 'Unmanaged', 'Paused'])

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
  const { compliance, paused, pendingDisruption, customization, missingDependency } = metrics
  const { thrashingActive, tombstone, activation, standingBy } = metrics
  for (const series of [
    compliance,
    paused,
    pendingDisruption,
    customization,
    missingDependency,
    thrashingActive,
    tombstone,
    activation,
    standingBy,
  ]) {
    series.reset()
  }
}

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

const setOrRemove = (series: Series, labels: Labels, value: number | undefined) =>
  value === undefined ? series.remove(labels) : series.set(labels, value)

const flag = (isSet: boolean) => (isSet ? 1 : undefined)

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
  removed: undefined,
  pendingRemoval: undefined,
  stuck: undefined,
}
const complianceOf = ({ kind }: Outcome) => COMPLIANCE[kind]

function customizationsOf(outcome: Outcome): readonly string[] {
  if (reasonOf(outcome) === 'Unmanaged') return ['unmanaged']
  if (!('plan' in outcome)) return []
  const { isPatched, released } = outcome.plan
  return [...(isPatched ? ['patch'] : []), ...(released.length > 0 ? ['ignore'] : [])]
}
