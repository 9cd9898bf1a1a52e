import { APPROVE, DISABLED_RESOURCES } from '../../../shared/baseline/annotations.ts'
import type { MissedApi } from '../../../shared/baseline/asset-status.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../../shared/baseline/facts/facts.ts'
import { reachOf } from '../../../shared/baseline/facts/pools.ts'
import { standbyReason } from '../../../shared/baseline/settings/activation.ts'
import { tellHowAlone, tellOther } from '../../../shared/baseline/settings/other-autopilot.ts'
import { settingNote } from '../../../shared/baseline/settings/setting-note.ts'
import type { ReadSettings } from '../../../shared/baseline/settings/settings.ts'
import { isConflict } from '../../../shared/cluster/client.ts'
import type { RecordEvent } from '../../../shared/cluster/events.ts'
import { cut, formatValue } from '../../../shared/engine/format-value.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import type { Log } from '../../../shared/ops/log.ts'
import type { ReconcilerMetrics } from '../../../shared/ops/metrics.ts'
import type { Outcome, Report } from '../decide/outcome.ts'
import type { Unavailable } from '../gather/availability.ts'
import { approveCommand, describeEffect } from './disruption-text.ts'
import {
  countActivation,
  countFailure,
  countMissed,
  countOutcome,
  resetSeries,
} from './outcome-metrics.ts'
import { describeOutcome, listed, type OutcomeText } from './outcome-text.ts'

interface PendingChange {
  readonly asset: Asset
  /** What it does to the nodes. */
  readonly reasons: readonly string[]
  /** Of a removal: why the object is not wanted. */
  readonly why?: string
}

/** Changes that reboot nodes and wait for approval, as one set. */
export interface PendingSet {
  readonly hco: KubeObject
  readonly facts: Facts
  readonly changes: readonly PendingChange[]
  /** What to approve; undefined while nothing waits. */
  readonly digest: string | undefined
  /** Whether every change that could wait was looked at: the digest of a part is none that can be approved. */
  readonly isComplete: boolean
  /** What the HyperConverged approves, where that is neither this set nor the last that was approved. */
  readonly unknownApproval?: string
}

/** The only place that reports outcomes: each becomes a log line, metrics and at most one event, on change. */
export interface Reporter {
  readonly report: (report: Report) => void
  readonly failed: (asset: Asset, hco: KubeObject, error: Error, retryInMs: number) => void
  /** Another leader reports from now on: removes all series and forgets what was told. */
  readonly reset: () => void
  readonly unavailable: (why: Unavailable) => void
  /** `waits` are sentences on what was asked for of active assets and waits for something. */
  readonly settings: (
    hco: KubeObject,
    settings: ReadSettings,
    warnings: readonly string[],
    waits: readonly string[],
  ) => void
  readonly pending: (set: PendingSet) => void
}

export interface ReporterDeps {
  readonly log: Log
  readonly metrics: ReconcilerMetrics
  readonly record: RecordEvent
  /** Whether this process writes nothing, whatever the HyperConverged says. */
  readonly isObserver: boolean
}

/** Creates a reporter that repeats nothing: what did not change since it was last told stays untold. */
export function createReporter(deps: ReporterDeps): Reporter {
  const { log, metrics, record, isObserver } = deps
  const news = createNews()
  const missing = new Map<string, MissedApi>()
  return {
    report(report) {
      countOutcome(metrics, report)
      const { asset, outcome, hco } = report
      const before = missing.get(asset.name)
      const missed = outcome.kind === 'skipped' ? outcome.missed : undefined
      if (missed) missing.set(asset.name, missed)
      else missing.delete(asset.name)
      if (!asset.isTombstone) countMissed(metrics, before, missed, missing.values())
      if (before && isThere(outcome)) {
        const note = `${asset.name}: the API ${before.group}/${before.kind} is served now`
        record({ subject: hco, type: 'Normal', reason: 'CRDDiscovered', note })
      }
      const text = describeOutcome(report)
      const isNew = news.isNew(topicOf(asset), JSON.stringify(text))
      if (isNew || isWrite(outcome)) tell(text, report, deps)
    },
    failed(asset, hco, error, retryInMs) {
      countFailure(metrics, asset, hco)
      const fields = { asset: asset.name, err: error, retryInMs: Math.round(retryInMs) }
      // A conflict is no failure: somebody else wrote first, again and again.
      if (isConflict(error)) return log.debug(fields, 'outpaced')
      if (!news.isNew(topicOf(asset), error.message)) return log.debug(fields, 'asset failed again')
      log.error(fields, 'asset failed')
      const note = `${asset.name}: ${error.message}`
      const reason = asset.isTombstone ? 'TombstoneFailed' : 'ApplyFailed'
      record({ subject: hco, type: 'Warning', reason, note })
    },
    reset() {
      resetSeries(metrics)
      news.reset()
    },
    unavailable(why) {
      resetSeries(metrics)
      if (why.reason === 'NotYet' || !news.isNew('unavailable', why.message)) return
      log[why.reason === 'TwoHyperConvergeds' ? 'error' : 'info'](why.message)
    },
    settings(hco, stated, warnings, waits) {
      countActivation(metrics, stated.settings.activation, isObserver)
      news.forget('unavailable')
      const problems = stated.problems.map((problem) => settingNote(problem, stated))
      for (const note of news.newOf('setting', [...problems, ...warnings])) {
        log.warn({ note }, 'invalid setting on the HyperConverged')
        record({ subject: hco, type: 'Warning', reason: 'InvalidSetting', note })
      }
      for (const note of news.newOf('other', othersOf(hco, stated))) {
        log.warn({ note }, 'another autopilot is active: standing by')
        record({ subject: hco, type: 'Warning', reason: 'OtherAutopilot', note })
      }
      for (const note of news.newOf('waits', waits)) {
        log.info({ note }, 'asked for, and waiting')
        record({ subject: hco, type: 'Normal', reason: 'AssetSkipped', note })
      }
    },
    pending(set) {
      const { digest, unknownApproval } = set
      if (unknownApproval === undefined) news.forget('unknown')
      else if (news.isNew('unknown', JSON.stringify([unknownApproval, digest])))
        tellUnknown(set, unknownApproval, deps)
      if (set.isComplete) tellSet(set, news, deps)
    },
  }
}

/** What there is to say of another autopilot: one that OLM installed is not to be got rid of by deleting it. */
function othersOf(hco: KubeObject, { settings: { activation } }: ReadSettings): readonly string[] {
  if (standbyReason(activation) !== 'OtherAutopilot') return []
  const olm = 'deleting the Deployment does not help where OLM installed it, since OLM restores it'
  const fewer = `for fewer assets than all there is ${DISABLED_RESOURCES}`
  // The command comes last, to be pasted.
  return [[tellOther(hco), olm, fewer, tellHowAlone(hco)].join('; ')]
}

/** Whether an API that an asset missed is there, rather than only missed no more. */
const isThere = (outcome: Outcome) =>
  outcome.kind === 'skipped'
    ? !outcome.missed && outcome.reason !== 'Inactive' && outcome.reason !== 'Off'
    : outcome.kind !== 'leftover'

const topicOf = ({ name }: Asset) => `asset/${name}`

// Two heals of the same field are told twice.
const isWrite = (outcome: Outcome) =>
  outcome.kind === 'created' || outcome.kind === 'configured' || outcome.kind === 'removed'

function tell(
  { level, message, fields, events }: OutcomeText,
  { asset, outcome, object, hco }: Report,
  deps: ReporterDeps,
) {
  deps.log[level]({ asset: asset.name, ...fields }, message)
  const subject = (outcome.kind === 'removed' ? outcome.was : object) ?? hco
  for (const { type, reason, note } of events) {
    deps.record({ subject, type, reason, note: `${asset.name}: ${note}` })
  }
}

/** Bytes, of the 1024 that an event's note may have. */
const LIST_LIMIT = 800

function tellPending(
  { hco, facts, changes }: PendingSet,
  digest: string,
  { log, record }: ReporterDeps,
): void {
  const told = changes.map(({ asset: { object, pool = '' }, reasons, why }) => {
    const effect = { effect: 'reboot', reasons, ...reachOf(pool, facts) } as const
    const removal = why === undefined ? '' : `would be deleted (${why}), which `
    return `${object.kind} ${object.name} ${removal}${describeEffect(effect)}`
  })
  const command = approveCommand(hco, digest)
  // The command comes last, to be pasted; so the list before it must leave it room.
  const note = `${cut(listed(told, '; '), LIST_LIMIT)}. To go ahead: ${command}`
  const reasons = Object.fromEntries(changes.map(({ asset, reasons }) => [asset.name, reasons]))
  log.warn(
    { object: titleOf(hco), digest, changes: told, reasons },
    'changes that reboot nodes wait for approval',
  )
  record({ subject: hco, type: 'Warning', reason: 'DisruptionPending', note })
}

/** Tells what is to be approved now, or that nothing is any more. */
function tellSet(set: PendingSet, news: News, deps: ReporterDeps): void {
  const { digest } = set
  if (digest === undefined) {
    if (news.forget('pending')) tellResolved(set, deps)
  } else if (news.isNew('pending', digest)) tellPending(set, digest, deps)
}

/** Tells that the last digest which was told is to be approved no more. */
function tellResolved({ hco }: PendingSet, { log, record }: ReporterDeps): void {
  const note = 'nothing waits for approval any more'
  log.info({ object: titleOf(hco) }, note)
  record({ subject: hco, type: 'Normal', reason: 'DisruptionResolved', note })
}

/** Tells of an approval that matches nothing: whoever set it waits for something that will not happen. */
function tellUnknown(
  { hco, digest }: PendingSet,
  stated: string,
  { log, record }: ReporterDeps,
): void {
  const shown = formatValue('', stated)
  const instead =
    digest === undefined
      ? 'nothing waits for approval'
      : `the set that waits is another. To approve that: ${approveCommand(hco, digest)}`
  const note = `${APPROVE} ${shown} approves nothing: ${instead}`
  log.warn({ object: titleOf(hco), stated: shown, digest }, 'an approval of nothing that waits')
  record({ subject: hco, type: 'Warning', reason: 'InvalidSetting', note })
}

type News = ReturnType<typeof createNews>

/** Remembers what was last told of each topic. */
function createNews() {
  const told = new Map<string, ReadonlySet<string>>()
  /** Which of the topic's texts were not among those of the last call. */
  const newOf = (topic: string, texts: readonly string[]): readonly string[] => {
    const before = told.get(topic)
    told.set(topic, new Set(texts))
    return texts.filter((text) => !before?.has(text))
  }
  return {
    newOf,
    isNew: (topic: string, text: string) => newOf(topic, [text]).length > 0,
    forget: (topic: string) => told.delete(topic),
    reset: () => told.clear(),
  }
}
