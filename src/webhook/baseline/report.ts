import type { Digest } from '../../shared/baseline/asset-status.ts'
import type { EventInput } from '../../shared/cluster/events.ts'
import { cut } from '../../shared/engine/format-value.ts'
import { isKubeObject, type KubeObject } from '../../shared/engine/json/object.ts'
import { createKeyedLimit, createLineLimit, type KeyedLimit } from '../server/rate-limits.ts'
import type { AdmissionRequest } from '../server/review.ts'
import { type Contest, labelsOf, shortName } from './contests/contest-limiter.ts'
import type { ObjectLabels } from './contests/contests.ts'
import type { Answer } from './words/answer.ts'
import { preventedEvent, warEvent } from './words/event-notes.ts'

/** What the count of requests is divided by. */
export interface Counted {
  readonly kind: string
  readonly operation: string
  readonly verdict: string
  readonly reason: string
}

export interface ReportDeps {
  readonly metrics: {
    readonly requests: { inc(labels: Counted): void }
    readonly contests: { inc(labels: ObjectLabels): void }
    readonly thrashing: { inc(labels: ObjectLabels): void }
    readonly duration: { observe(labels: Pick<Counted, 'verdict'>, seconds: number): void }
  }
  readonly log: { info(entry: object, message: string): void }
  readonly record: (event: EventInput) => void
  readonly digest: Digest
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number
}

const INTERVAL_MS = 60_000
const MAX_KEYS = 1_000
// Whoever writes under ever new names, or reaches us without the API server, gets no more said than this. What opens
// an episode comes once, so it has a limit of its own that no correction spends.
const EVENTS_PER_OBJECT = { capacity: 5, refillMs: INTERVAL_MS }
const ONCE = { capacity: 1, refillMs: INTERVAL_MS }
const LINES = { capacity: 100, refillMs: 600 }
// A user name is as long as its bearer likes.
const USER_LIMIT = 256

/**
 * Creates what tells metrics, log and events of an answer that was begun at that time of the clock: log and events of the
 * same verdict, fields and user once a minute, and neither of one object nor in the log more than people would read.
 */
export function createReport({ metrics, log, record, digest, now }: ReportDeps) {
  const once = createKeyedLimit(ONCE, MAX_KEYS)
  const preventions = createKeyedLimit(EVENTS_PER_OBJECT, MAX_KEYS)
  const openings = createKeyedLimit(EVENTS_PER_OBJECT, MAX_KEYS)
  const write = createLineLimit(LINES, (entry) => log.info(entry, 'judged'), now)
  const send = (event: EventInput, limit: KeyedLimit) => {
    if (limit(JSON.stringify(labelsOf(event.subject)), now())) record(event)
  }
  const isFirst = ({ verdict, reason, prevented, contest }: Answer, ...about: unknown[]) => {
    const pointers = (prevented ?? contest?.drifts ?? []).map(({ pointer }) => pointer).sort()
    return once(shortName(JSON.stringify([verdict, reason, ...about, pointers]), digest), now())
  }
  /** Counts the contest, and tells of an episode that it opens. */
  const tellContest = (contest: Contest, subject: KubeObject): boolean => {
    const labels = labelsOf(subject)
    if (!contest.ruling.isRepeat) metrics.contests.inc(labels)
    const opening = warEvent(contest, subject)
    if (!opening) return false
    metrics.thrashing.inc(labels)
    send(opening, openings)
    return true
  }
  return (request: AdmissionRequest, answer: Answer, startedAt: number): void => {
    const { uid, operation, kind, object, oldObject, userInfo } = request
    const { verdict, reason, prevented, contest, response } = answer
    metrics.requests.inc({ kind: kind.kind, operation, verdict, reason })
    metrics.duration.observe({ verdict }, (now() - startedAt) / 1000)
    const subject = [object, oldObject].find(isKubeObject)
    if (!subject) return
    const isOpened = contest !== undefined && tellContest(contest, subject)
    const user = userInfo.username
    const labels = labelsOf(subject)
    if (verdict === 'allowed' || !isFirst(answer, labels, user)) return
    const pointers = response.auditAnnotations?.pointers
    const what = {
      ...labels,
      operation,
      verdict,
      reason,
      ...(pointers !== undefined && { pointers }),
    }
    write({ uid, user: cut(user, USER_LIMIT), ...what })
    if (prevented && !isOpened)
      send(preventedEvent(prevented, subject, user, response.allowed), preventions)
  }
}
