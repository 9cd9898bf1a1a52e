import { type Asset, namespaceOf } from '../shared/catalog/catalog.ts'
import type { Facts } from '../shared/catalog/facts.ts'
import type { ReadSettings } from '../shared/catalog/settings.ts'
import type { EventInput, RecordEvent } from '../shared/cluster/events.ts'
import { APPROVE } from '../shared/engine/annotations.ts'
import type { Drift } from '../shared/engine/merge.ts'
import { type KubeObject, titleOf } from '../shared/engine/object.ts'
import { showValue } from '../shared/engine/show.ts'
import type { Log } from '../shared/ops/log.ts'
import type { ReconcilerMetrics } from '../shared/ops/metrics.ts'
import type { Blind } from './cluster-view.ts'
import type { Outcome } from './reconcile.ts'

export interface Report {
  readonly asset: Asset
  readonly outcome: Outcome
  /** The object as it is now, if it exists. */
  readonly object: KubeObject | undefined
  readonly hco: KubeObject
  readonly facts: Facts
  readonly durationMs: number
}

/** The one place where the reconciler speaks: each outcome becomes a log line, metrics and at most one event, on change. */
export interface Reporter {
  readonly report: (report: Report) => void
  readonly failed: (asset: Asset, hco: KubeObject, error: Error, retryInMs: number) => void
  readonly blind: (blind: Blind) => void
  readonly settings: (hco: KubeObject, settings: ReadSettings, unknown: readonly string[]) => void
  readonly pending: (hco: KubeObject, facts: Facts, assets: readonly Asset[], digest: string | undefined) => void
}

export interface ReporterDeps {
  readonly log: Log
  readonly metrics: ReconcilerMetrics
  readonly record: RecordEvent
}

/** Creates a reporter that repeats nothing: what did not change since it was last told stays untold. */
export function createReporter({ log, metrics, record }: ReporterDeps): Reporter {
  const told = new Map<string, string>()
  const isNews = (topic: string, text: string) => {
    if (told.get(topic) === text) return false
    told.set(topic, text)
    return true
  }
  return {
    report(report) {
      const { asset, outcome } = report
      count(metrics, report)
      const line = describe(report)
      const isChange = outcome.kind === 'created' || outcome.kind === 'configured'
      if (!isChange && !isNews(`asset/${asset.name}`, JSON.stringify(line))) return
      if (isChange) told.set(`asset/${asset.name}`, '')
      log[line.level]({ asset: asset.name, ...line.fields }, line.message)
      for (const event of line.events) record(event)
    },
    failed(asset, hco, error, retryInMs) {
      metrics.compliance.set(labelsOf(asset, hco), 0)
      const isNew = isNews(`asset/${asset.name}`, error.message)
      const fields = { asset: asset.name, err: error, retryInMs: Math.round(retryInMs) }
      if (isNew) {
        log.error(fields, 'asset failed')
        record({ subject: hco, type: 'Warning', reason: 'ApplyFailed', note: `${asset.name}: ${error.message}` })
      }
      if (!isNew) log.debug(fields, 'asset failed again')
    },
    blind(blind) {
      if (blind.reason === 'NotYet') return
      if (isNews('sight', blind.message)) log[blind.reason === 'TwoHyperConvergeds' ? 'error' : 'info'](blind.message)
    },
    settings(hco, { problems }, unknown) {
      told.delete('sight')
      const notes = [...problems.map(({ annotation, message }) => `${annotation} ${message}`), ...unknown]
      for (const note of notes) {
        if (!isNews(`setting/${note}`, '')) continue
        log.warn({ note }, 'invalid setting on the HyperConverged')
        record({ subject: hco, type: 'Warning', reason: 'InvalidSetting', note })
      }
      for (const topic of told.keys()) {
        if (topic.startsWith('setting/') && !notes.includes(topic.slice('setting/'.length))) told.delete(topic)
      }
    },
    pending(hco, facts, assets, digest) {
      if (digest === undefined || !isNews('pending', digest)) return
      const changes = assets.map(
        ({ object, pool }) =>
          `${object.kind} ${object.name} reboots ${facts.pools[pool ?? ''] ?? 'the'} nodes of pool ${pool}`,
      )
      const note = `${changes.join('; ')}. To go ahead: kubectl annotate ${commandTarget(hco)} --overwrite ${APPROVE}=${digest}`
      log.warn({ digest, changes }, 'changes that reboot nodes wait for approval')
      record({ subject: hco, type: 'Warning', reason: 'DisruptionPending', note })
    },
  }
}

const commandTarget = ({ metadata }: KubeObject) =>
  `hyperconverged -n ${metadata.namespace} ${metadata.name}`

const labelsOf = (asset: Asset, hco: KubeObject) => ({
  kind: asset.object.kind,
  namespace: namespaceOf(asset, hco.metadata.namespace ?? '') ?? '',
  name: asset.object.name,
})

function count(metrics: ReconcilerMetrics, { asset, outcome, object, hco, durationMs }: Report): void {
  const labels = labelsOf(asset, hco)
  for (const gauge of [metrics.compliance, metrics.paused, metrics.pendingDisruption]) gauge.remove(labels)
  for (const type of ['patch', 'ignore', 'unmanaged']) metrics.customization.remove({ ...labels, type })
  countDependency(metrics, asset, outcome)
  metrics.duration.observe(labels, durationMs / 1000)
  const compliance = complianceOf(outcome)
  if (compliance !== undefined) metrics.compliance.set(labels, compliance)
  if (outcome.kind === 'skipped' && outcome.reason === 'Paused') metrics.paused.set(labels, 1)
  if (outcome.kind === 'pending' && outcome.reason !== 'Observing') metrics.pendingDisruption.set(labels, 1)
  if (!object) return
  for (const type of customizations(outcome)) metrics.customization.set({ ...labels, type }, 1)
}

function countDependency(metrics: ReconcilerMetrics, { object }: Asset, outcome: Outcome): void {
  const api = { group: object.group, version: object.versions[0] ?? '', kind: object.kind }
  metrics.missingDependency.remove(api)
  if (outcome.kind === 'skipped' && outcome.reason === 'DependencyMissing') metrics.missingDependency.set(api, 1)
}

function complianceOf(outcome: Outcome): 0 | 1 | undefined {
  switch (outcome.kind) {
    case 'unchanged':
    case 'created':
    case 'configured':
      return 1
    case 'pending':
    case 'held':
    case 'failed':
      return 0
    case 'skipped':
    case 'leftover':
      return undefined
  }
}

function customizations(outcome: Outcome): readonly string[] {
  if (outcome.kind === 'skipped') return outcome.reason === 'Unmanaged' ? ['unmanaged'] : []
  if (!('plan' in outcome)) return []
  const { isPatched, released } = outcome.plan
  return [...(isPatched ? ['patch'] : []), ...(released.length > 0 ? ['ignore'] : [])]
}

interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly events: readonly EventInput[]
}

// Which event tells that the reconciler gave an object up to somebody.
const SKIP_EVENTS: Readonly<Record<string, EventInput['reason']>> = {
  Unmanaged: 'UnmanagedMode',
  DependencyMissing: 'CRDMissing',
  NamespaceMissing: 'AssetSkipped',
}

function describe({ asset, outcome, object, hco }: Report): Line {
  const subject = object ?? hco
  const event = (type: EventInput['type'], reason: string, note: string): EventInput => ({
    subject,
    type,
    reason,
    note: `${asset.name}: ${note}`,
  })
  switch (outcome.kind) {
    case 'unchanged': {
      const events = outcome.plan.remarks.map(({ reason, message }) => event('Warning', reason, message))
      return { level: 'debug', message: 'in sync', fields: {}, events }
    }
    case 'created': {
      const events = [event('Normal', 'AssetApplied', `created, because ${asset.description}`)]
      return { level: 'info', message: 'created', fields: { object: titleOf(outcome.object) }, events }
    }
    case 'configured': {
      const reason = outcome.isAdopted ? 'AssetAdopted' : 'DriftCorrected'
      const fields = { object: titleOf(outcome.object), pointers: pointersOf(outcome.drifts) }
      const note = `${outcome.isAdopted ? 'taken over' : 'put back'}: ${listDrifts(outcome.drifts)}`
      const message = outcome.isAdopted ? 'adopted' : 'drift corrected'
      return { level: 'info', message, fields, events: [event('Normal', reason, note)] }
    }
    case 'pending': {
      const { drifts, reason, isCreation } = outcome
      const fields = { reason, pointers: pointersOf(drifts), isCreation }
      const note = isCreation ? 'would be created' : `differs: ${listDrifts(drifts)}`
      // What waits for approval is told as one set, on the HyperConverged.
      const events = reason === 'Observing' ? [event('Normal', 'DriftDetected', note)] : []
      return { level: 'info', message: 'change not made', fields, events }
    }
    case 'held': {
      const messages = outcome.problems.map(({ message }) => message)
      const [first] = outcome.problems
      const note = `held, nothing is written until it is mended: ${messages.join('; ')}`
      const events = [event('Warning', first?.reason ?? 'InvalidPatch', note)]
      return { level: 'warn', message: 'held by an invalid override', fields: { problems: messages }, events }
    }
    case 'skipped': {
      const { reason, message } = outcome
      const told = SKIP_EVENTS[reason]
      const events = told ? [event('Normal', told, message ?? `${reason}: not managed until that changes`)] : []
      const level = reason === 'Inactive' || reason === 'Off' ? 'debug' : 'info'
      return { level, message: 'skipped', fields: { reason, ...(message && { because: message }) }, events }
    }
    case 'leftover':
      return { level: 'info', message: 'left over', fields: { because: outcome.message }, events: [] }
    case 'failed':
      return {
        level: 'error',
        message: 'asset failed',
        fields: { reason: outcome.reason, error: outcome.message },
        events: [event('Warning', outcome.reason, outcome.message)],
      }
    default:
      return outcome satisfies never
  }
}

const pointersOf = (drifts: readonly Drift[]) => drifts.map(({ pointer }) => pointer)

const SHOWN = 5

/** The changed pointers with their old and new values, as far as they may be shown and there is room. */
function listDrifts(drifts: readonly Drift[]): string {
  const shown = drifts.slice(0, SHOWN).map(({ pointer, found, wanted }) => `${pointer} ${showValue(pointer, found)} → ${showValue(pointer, wanted)}`)
  return [...shown, ...(drifts.length > SHOWN ? [`and ${drifts.length - SHOWN} more`] : [])].join(', ')
}
