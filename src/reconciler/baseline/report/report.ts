import { APPROVE, DISABLED_RESOURCES } from '../../../shared/baseline/annotations.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../../shared/baseline/facts/facts.ts'
import { reachOf } from '../../../shared/baseline/facts/pools.ts'
import { standbyReason } from '../../../shared/baseline/settings/activation.ts'
import { tellHowAlone, tellOther } from '../../../shared/baseline/settings/other-autopilot.ts'
import { settingNote } from '../../../shared/baseline/settings/setting-note.ts'
import type { ReadSettings } from '../../../shared/baseline/settings/settings.ts'
import { isConflict } from '../../../shared/cluster/client.ts'
import type { EventInput, RecordEvent } from '../../../shared/cluster/events.ts'
import { formatValue } from '../../../shared/engine/format-value.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import type { Log } from '../../../shared/ops/log.ts'
import type { ReconcilerMetrics } from '../../../shared/ops/metrics.ts'
import type { Outcome, Report, SkipReason } from '../decide/outcome.ts'
import type { Unavailable } from '../gather/availability.ts'
import { approveCommand, describeEffect } from './disruption-text.ts'
import {
  countActivation,
  countFailure,
  createOutcomeCounter,
  resetSeries,
} from './outcome-metrics.ts'
import { describeOutcome, type OutcomeText } from './outcome-text.ts'

/** Changes that reboot nodes and wait for approval, as one set. */
export interface PendingSet {
  readonly hco: KubeObject
  readonly facts: Facts
  readonly changes: readonly { readonly asset: Asset; readonly reasons: readonly string[] }[]
  /** What to approve; undefined while nothing waits. */
  readonly digest: string | undefined
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
  const { log, metrics } = deps
  const news = createNews()
  const countOutcome = createOutcomeCounter(metrics)
  const discoveries = createDiscoveries()
  return {
    report(report) {
      countOutcome(report)
      const discovered = discoveries(report)
      if (discovered) deps.record(discovered)
      const text = describeOutcome(report)
      if (isWrite(report.outcome)) news.forget(topicOf(report.asset))
      else if (!news.isNew(topicOf(report.asset), JSON.stringify(text))) return
      tell(text, report, deps)
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
      deps.record({ subject: hco, type: 'Warning', reason, note })
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
      countActivation(metrics, stated.settings.activation, deps.isObserver)
      news.forget('unavailable')
      const problems = stated.problems.map((problem) => settingNote(problem, stated))
      const notes = [...problems, ...warnings]
      for (const note of news.newOf('setting', notes)) {
        log.warn({ note }, 'invalid setting on the HyperConverged')
        deps.record({ subject: hco, type: 'Warning', reason: 'InvalidSetting', note })
      }
      for (const note of news.newOf('other', othersOf(hco, stated))) {
        log.warn({ note }, 'another autopilot is active: standing by')
        deps.record({ subject: hco, type: 'Warning', reason: 'OtherAutopilot', note })
      }
      for (const note of news.newOf('waits', waits)) {
        log.info({ note }, 'asked for, and waiting')
        deps.record({ subject: hco, type: 'Normal', reason: 'AssetSkipped', note })
      }
    },
    pending(set) {
      const { digest, unknownApproval } = set
      if (unknownApproval === undefined) news.forget('unknown')
      else if (news.isNew('unknown', JSON.stringify([unknownApproval, digest])))
        tellUnknown(set, unknownApproval, deps)
      if (digest === undefined) news.forget('pending')
      else if (news.isNew('pending', digest)) tellPending(set, digest, deps)
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

/** Tells when an API that was missed is there; not when it is only missed no more. */
function createDiscoveries() {
  const missing = new Map<string, string>()
  return ({ asset: { name }, outcome, hco }: Report): EventInput | undefined => {
    const before = missing.get(name)
    const missed = outcome.kind === 'skipped' ? outcome.missed : undefined
    if (missed) missing.set(name, `${missed.group}/${missed.kind}`)
    else missing.delete(name)
    const isForgone = outcome.kind === 'skipped' && FORGONE.has(outcome.reason)
    if (before === undefined || missed || isForgone || outcome.kind === 'leftover') return undefined
    const note = `${name}: the API ${before} is served now`
    return { subject: hco, type: 'Normal', reason: 'CRDDiscovered', note }
  }
}

const FORGONE: ReadonlySet<SkipReason> = new Set(['Inactive', 'Off'])

const topicOf = ({ name }: Asset) => `asset/${name}`

// Two heals of the same field are told twice.
const isWrite = (outcome: Outcome) =>
  outcome.kind === 'created' ||
  outcome.kind === 'configured' ||
  (outcome.kind === 'removed' && outcome.was !== undefined)

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

const SHOWN = 5

function tellPending(
  { hco, facts, changes }: PendingSet,
  digest: string,
  { log, record }: ReporterDeps,
): void {
  const told = changes.map(({ asset: { object, pool = '' }, reasons }) => {
    const effect = { effect: 'reboot', reasons, ...reachOf(pool, facts) } as const
    return `${object.kind} ${object.name} ${describeEffect(effect)}`
  })
  const command = approveCommand(hco, digest)
  // The command comes last, to be pasted; so the list before it must leave it room.
  const more = told.length > SHOWN ? `; and ${told.length - SHOWN} more` : ''
  const note = `${told.slice(0, SHOWN).join('; ')}${more}. To go ahead: ${command}`
  const reasons = Object.fromEntries(changes.map(({ asset, reasons }) => [asset.name, reasons]))
  log.warn(
    { object: titleOf(hco), digest, changes: told, reasons },
    'changes that reboot nodes wait for approval',
  )
  record({ subject: hco, type: 'Warning', reason: 'DisruptionPending', note })
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

/** Remembers what was last told of each topic. */
function createNews() {
  const told = new Map<string, string>()
  const listed = new Map<string, ReadonlySet<string>>()
  return {
    isNew(topic: string, text: string): boolean {
      if (told.get(topic) === text) return false
      told.set(topic, text)
      return true
    },
    forget: (topic: string) => told.delete(topic),
    reset() {
      told.clear()
      listed.clear()
    },
    /** Which of the topic's texts were not among those of the last call. */
    newOf(topic: string, texts: readonly string[]): readonly string[] {
      const before = listed.get(topic)
      listed.set(topic, new Set(texts))
      return texts.filter((text) => !before?.has(text))
    },
  }
}
