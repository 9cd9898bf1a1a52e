import { type Asset, namespaceOf } from '../shared/catalog/catalog.ts'
import type { KubeObject } from '../shared/engine/object.ts'
import type { ReconcilerMetrics } from '../shared/ops/metrics.ts'
import type { Outcome, Report } from './outcome.ts'

/** Creates a function that brings an asset's series up to its outcome; a state that the outcome left keeps no series. */
export function createOutcomeCounter(metrics: ReconcilerMetrics): (report: Report) => void {
  // Several assets may miss one API.
  const missing = new Map<string, Set<string>>()
  return ({ asset, outcome, hco, durationMs }) => {
    const labels = labelsOf(asset, hco)
    metrics.duration.observe(labels, durationMs / 1000)
    setOrRemove(metrics.compliance, labels, complianceOf(outcome))
    setOrRemove(metrics.paused, labels, flag(reasonOf(outcome) === 'Paused'))
    const isPending = outcome.kind === 'pending' && outcome.reason !== 'Observing'
    setOrRemove(metrics.pendingDisruption, labels, flag(isPending))
    const types = customizationsOf(outcome)
    for (const type of ['patch', 'ignore', 'unmanaged']) {
      setOrRemove(metrics.customization, { ...labels, type }, flag(types.includes(type)))
    }
    const { group, versions, kind } = asset.object
    const missedBy = missing.get(`${group}/${kind}`) ?? new Set()
    missing.set(`${group}/${kind}`, missedBy)
    if (reasonOf(outcome) === 'DependencyMissing') missedBy.add(asset.name)
    else missedBy.delete(asset.name)
    const api = { group, version: versions[0] ?? '', kind }
    setOrRemove(metrics.missingDependency, api, flag(missedBy.size > 0))
  }
}

/** Removes every series of an asset: they are the leader's, and only while it sees the cluster. */
export function resetSeries(metrics: ReconcilerMetrics): void {
  const { compliance, paused, pendingDisruption, customization, missingDependency } = metrics
  for (const series of [compliance, paused, pendingDisruption, customization, missingDependency]) {
    series.reset()
  }
}

/** Records that an asset could not be brought, or not even compared, to its desired state. */
export const countFailure = (metrics: ReconcilerMetrics, asset: Asset, hco: KubeObject) =>
  metrics.compliance.set(labelsOf(asset, hco), 0)

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

const reasonOf = (outcome: Outcome) => ('reason' in outcome ? outcome.reason : undefined)

const COMPLIANCE: Readonly<Record<Outcome['kind'], 0 | 1 | undefined>> = {
  unchanged: 1,
  created: 1,
  configured: 1,
  pending: 0,
  held: 0,
  failed: 0,
  skipped: undefined,
  leftover: undefined,
}
const complianceOf = ({ kind }: Outcome) => COMPLIANCE[kind]

function customizationsOf(outcome: Outcome): readonly string[] {
  if (reasonOf(outcome) === 'Unmanaged') return ['unmanaged']
  if (!('plan' in outcome)) return []
  const { isPatched, released } = outcome.plan
  return [...(isPatched ? ['patch'] : []), ...(released.length > 0 ? ['ignore'] : [])]
}
