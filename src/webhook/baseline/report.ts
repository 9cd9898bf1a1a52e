import type { Digest } from '../../shared/baseline/asset-status.ts'
import type { EventInput } from '../../shared/cluster/events.ts'
import { cut } from '../../shared/engine/format-value.ts'
import { isKubeObject, type KubeObject } from '../../shared/engine/json/object.ts'
import { createKeyedLimit, createLineLimit, type KeyedLimit } from '../server/rate-limits.ts'
import type { AdmissionRequest } from '../server/review.ts'
import { type Contest, labelsOf } from './contests/contest-limiter.ts'
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

/** Tells of an answer that was begun at that time of the clock. */
export type Report = (request: AdmissionRequest, answer: Answer, startedAt: number) => void

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
 * Tells metrics, log and events of an answer: log and events of the same verdict, fields and user once a minute, and
 * neither of one object nor in the log more than people would read.
 */
export function createReport({ metrics, log, record, digest, now }: ReportDeps): Report {
  const once = createKeyedLimit(ONCE, MAX_KEYS)
  const preventions = createKeyedLimit(EVENTS_PER_OBJECT, MAX_KEYS)
  const openings = createKeyedLimit(EVENTS_PER_OBJECT, MAX_KEYS)
  const write = createLineLimit(LINES, (entry) => log.info(entry, 'judged'), now)
  const send = (event: EventInput, subject: KubeObject, limit: KeyedLimit) => {
    if (limit(JSON.stringify(labelsOf(subject)), now())) record(event)
  }
  const isFirst = (answer: Answer, subject: KubeObject, user: string) => {
    const { verdict, reason, prevented, contest } = answer
    const pointers = (prevented ?? contest?.drifts ?? []).map(({ pointer }) => pointer).sort()
    const key = JSON.stringify([verdict, reason, labelsOf(subject), user, pointers])
    return once(digest(key), now())
  }
  const countContest = (contest: Contest, subject: KubeObject): EventInput | undefined => {
    const labels = labelsOf(subject)
    if (!contest.ruling.isRepeat) metrics.contests.inc(labels)
    const event = warEvent(contest, subject)
    if (event) metrics.thrashing.inc(labels)
    return event
  }
  const tell = (
    { uid, operation, userInfo }: AdmissionRequest,
    answer: Answer,
    subject: KubeObject,
  ) => {
    const { verdict, reason, prevented, contest, response } = answer
    const user = userInfo.username
    const opening = contest && countContest(contest, subject)
    if (opening) send(opening, subject, openings)
    if (verdict === 'allowed' || !isFirst(answer, subject, user)) return
    const pointers = response.auditAnnotations?.pointers
    const what = { ...labelsOf(subject), operation, verdict, reason }
    write({
      uid,
      user: cut(user, USER_LIMIT),
      ...what,
      ...(pointers !== undefined && { pointers }),
    })
    if (prevented && !opening)
      send(preventedEvent(prevented, subject, user, response.allowed), subject, preventions)
  }
  return (request: AdmissionRequest, answer: Answer, startedAt: number) => {
    const {
      operation,
      kind: { kind },
      object,
      oldObject,
    } = request
    const { verdict, reason } = answer
    metrics.requests.inc({ kind, operation, verdict, reason })
    metrics.duration.observe({ verdict }, (now() - startedAt) / 1000)
    const subject = [object, oldObject].find(isKubeObject)
    if (subject) tell(request, answer, subject)
  }
}
