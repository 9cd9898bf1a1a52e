import type { Asset } from '../shared/catalog/catalog.ts'
import type { Facts } from '../shared/catalog/facts.ts'
import type { ReadSettings } from '../shared/catalog/settings.ts'
import type { RecordEvent } from '../shared/cluster/events.ts'
import { APPROVE } from '../shared/engine/annotations.ts'
import { type KubeObject, titleOf } from '../shared/engine/object.ts'
import { sentenceOf } from '../shared/engine/problem.ts'
import type { Log } from '../shared/ops/log.ts'
import type { ReconcilerMetrics } from '../shared/ops/metrics.ts'
import type { Blind } from './cluster-view.ts'
import type { Outcome, Report } from './outcome.ts'
import { countFailure, createOutcomeCounter, resetSeries } from './outcome-metrics.ts'
import { describeOutcome, type Telling } from './outcome-telling.ts'

/** Changes that reboot nodes and wait for approval, as one set. */
export interface PendingSet {
  readonly hco: KubeObject
  readonly facts: Facts
  readonly assets: readonly Asset[]
  /** What to approve; undefined while nothing waits. */
  readonly digest: string | undefined
}

/** The one place where the reconciler speaks: each outcome becomes a log line, metrics and at most one event, on change. */
export interface Reporter {
  readonly report: (report: Report) => void
  readonly failed: (asset: Asset, hco: KubeObject, error: Error, retryInMs: number) => void
  /** Whatever was told was another leader's time: no series of it stays, and all is told anew. */
  readonly reset: () => void
  readonly blind: (blind: Blind) => void
  readonly settings: (hco: KubeObject, settings: ReadSettings, unknown: readonly string[]) => void
  readonly pending: (set: PendingSet) => void
}

export interface ReporterDeps {
  readonly log: Log
  readonly metrics: ReconcilerMetrics
  readonly record: RecordEvent
}

/** Creates a reporter that repeats nothing: what did not change since it was last told stays untold. */
export function createReporter(deps: ReporterDeps): Reporter {
  const { log, metrics } = deps
  const news = createNews()
  const countOutcome = createOutcomeCounter(metrics)
  return {
    report(report) {
      countOutcome(report)
      const telling = describeOutcome(report)
      if (isWrite(report.outcome)) news.forget(topicOf(report.asset))
      else if (!news.isNew(topicOf(report.asset), JSON.stringify(telling))) return
      tell(telling, report, deps)
    },
    failed(asset, hco, error, retryInMs) {
      countFailure(metrics, asset, hco)
      const fields = { asset: asset.name, err: error, retryInMs: Math.round(retryInMs) }
      if (!news.isNew(topicOf(asset), error.message)) return log.debug(fields, 'asset failed again')
      log.error(fields, 'asset failed')
      const note = `${asset.name}: ${error.message}`
      deps.record({ subject: hco, type: 'Warning', reason: 'ApplyFailed', note })
    },
    reset() {
      resetSeries(metrics)
      news.reset()
    },
    blind(blind) {
      resetSeries(metrics)
      if (blind.reason === 'NotYet' || !news.isNew('sight', blind.message)) return
      log[blind.reason === 'TwoHyperConvergeds' ? 'error' : 'info'](blind.message)
    },
    settings(hco, { problems }, unknown) {
      news.forget('sight')
      const notes = [...problems.map(sentenceOf), ...unknown]
      for (const note of news.newOf('setting', notes)) {
        log.warn({ note }, 'invalid setting on the HyperConverged')
        deps.record({ subject: hco, type: 'Warning', reason: 'InvalidSetting', note })
      }
    },
    pending(set) {
      if (set.digest !== undefined && news.isNew('pending', set.digest)) tellPending(set, deps)
      if (set.digest === undefined) news.forget('pending')
    },
  }
}

const topicOf = ({ name }: Asset) => `asset/${name}`

// Two heals of the same field are two things that happened.
const isWrite = ({ kind }: Outcome) => kind === 'created' || kind === 'configured'

function tell(
  { level, message, fields, events }: Telling,
  { asset, object, hco }: Report,
  deps: ReporterDeps,
) {
  deps.log[level]({ asset: asset.name, ...fields }, message)
  const subject = object ?? hco
  for (const { type, reason, note } of events) {
    deps.record({ subject, type, reason, note: `${asset.name}: ${note}` })
  }
}

const SHOWN = 5

function tellPending(
  { hco, facts, assets, digest }: PendingSet,
  { log, record }: ReporterDeps,
): void {
  const changes = assets.map(({ object, pool = '' }) => {
    const nodes = facts.pools[pool]
    return `${object.kind} ${object.name} reboots ${nodes === undefined ? 'the nodes' : `${nodes} nodes`} of pool ${pool}`
  })
  const target = `hyperconverged -n ${hco.metadata.namespace} ${hco.metadata.name}`
  const command = `kubectl annotate ${target} --overwrite ${APPROVE}=${digest}`
  // The command comes last, to be pasted; so the list before it must leave it room.
  const more = changes.length > SHOWN ? `; and ${changes.length - SHOWN} more` : ''
  const note = `${changes.slice(0, SHOWN).join('; ')}${more}. To go ahead: ${command}`
  log.warn({ object: titleOf(hco), digest, changes }, 'changes that reboot nodes wait for approval')
  record({ subject: hco, type: 'Warning', reason: 'DisruptionPending', note })
}

/** Remembers what was last told of each topic. */
function createNews() {
  const told = new Map<string, string>()
  let listed = new Set<string>()
  return {
    isNew(topic: string, text: string): boolean {
      if (told.get(topic) === text) return false
      told.set(topic, text)
      return true
    },
    forget: (topic: string) => told.delete(topic),
    reset() {
      told.clear()
      listed = new Set()
    },
    /** Which of the topic's texts were not among those of the last call. */
    newOf(topic: string, texts: readonly string[]): readonly string[] {
      const before = listed
      listed = new Set(texts.map((text) => `${topic}/${text}`))
      return texts.filter((text) => !before.has(`${topic}/${text}`))
    },
  }
}
