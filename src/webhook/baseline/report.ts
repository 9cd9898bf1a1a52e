import type { Digest } from '../../shared/baseline/asset-status.ts'
import type { EventInput } from '../../shared/cluster/events.ts'
import { cut } from '../../shared/engine/format-value.ts'
import { isKubeObject, type KubeObject } from '../../shared/engine/json/object.ts'
import { createLineLimit } from '../server/line-limit.ts'
import { OncePer } from '../server/once-per.ts'
import type { AdmissionRequest } from '../server/review.ts'
import { type Answer, preventedEvent } from './answers.ts'
import { Allowance } from './contests/allowance.ts'
import type { Battlefield, Contests } from './contests/contests.ts'
import { battlefieldOf, type War, warEvent } from './contests/referee.ts'

/** What the count of requests is divided by. */
export interface Counted {
  readonly kind: string
  readonly operation: string
  readonly verdict: string
  readonly reason: string
}

export interface ReportDeps {
  readonly contests: Contests
  readonly metrics: {
    readonly requests: { inc(labels: Counted): void }
    readonly contests: { inc(labels: Battlefield): void }
    readonly thrashing: { inc(labels: Battlefield): void }
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

const TELLING_INTERVAL_MS = 60_000
const TELLINGS_REMEMBERED = 1_000
// Whoever writes under ever new names, or reaches us without the API server, gets no more said than this. What opens
// an episode comes once, so it has an allowance of its own that no correction spends.
const EVENTS_PER_OBJECT = { capacity: 5, refillMs: TELLING_INTERVAL_MS, room: TELLINGS_REMEMBERED }
const LINES = { capacity: 100, refillMs: 600 }
// A user name is as long as its bearer likes.
const USER_LIMIT = 256

/**
 * Tells metrics, log and events of an answer: log and events of the same verdict, fields and user once a minute, and
 * neither of one object nor in the log more than people would read.
 */
export function createReport({ metrics, log, record, digest, now, contests }: ReportDeps): Report {
  const once = new OncePer(TELLING_INTERVAL_MS, TELLINGS_REMEMBERED)
  const prevention = new Allowance(EVENTS_PER_OBJECT)
  const openings = new Allowance(EVENTS_PER_OBJECT)
  const write = createLineLimit(LINES, (entry) => log.info(entry, 'judged'), now)
  const send = (event: EventInput, subject: KubeObject, allowance: Allowance) => {
    if (allowance.admits(JSON.stringify(battlefieldOf(subject)), now())) record(event)
  }
  const isFirst = (answer: Answer, subject: KubeObject, user: string) => {
    const { verdict, reason, prevented, war } = answer
    const pointers = (prevented ?? war?.drifts ?? []).map(({ pointer }) => pointer).sort()
    const key = JSON.stringify([verdict, reason, battlefieldOf(subject), user, pointers])
    return once.admits(digest(key), now())
  }
  const countWar = (war: War, subject: KubeObject): EventInput | undefined => {
    const labels = battlefieldOf(subject)
    if (!war.ruling.isRepeat) metrics.contests.inc(labels)
    const event = warEvent(war, subject, contests.quietMs)
    if (event) metrics.thrashing.inc(labels)
    return event
  }
  const tell = (
    { uid, operation, userInfo }: AdmissionRequest,
    answer: Answer,
    subject: KubeObject,
  ) => {
    const { verdict, reason, prevented, war, response } = answer
    const user = userInfo.username
    const opening = war && countWar(war, subject)
    if (opening) send(opening, subject, openings)
    if (verdict === 'allowed' || !isFirst(answer, subject, user)) return
    const pointers = response.auditAnnotations?.pointers
    const what = { ...battlefieldOf(subject), operation, verdict, reason }
    write({
      uid,
      user: cut(user, USER_LIMIT),
      ...what,
      ...(pointers !== undefined && { pointers }),
    })
    if (prevented && !opening)
      send(preventedEvent(answer, prevented, subject, user), subject, prevention)
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
