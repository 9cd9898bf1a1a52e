import { cut } from '../../shared/engine/format-value.ts'
import { isKubeObject } from '../../shared/engine/json/object.ts'
import { createKeyedLimit, createLineLimit } from '../server/rate-limits.ts'
import type { AdmissionRequest } from '../server/review.ts'
import type { Answer } from './words/answer.ts'

export interface ReportDeps {
  readonly metrics: {
    readonly requests: {
      inc(labels: Readonly<Record<'kind' | 'operation' | 'verdict' | 'reason', string>>): void
    }
    readonly duration: { observe(labels: { readonly verdict: string }, seconds: number): void }
  }
  readonly log: { info(entry: object, message: string): void }
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number
}

const ONCE = { capacity: 1, refillMs: 60_000 }
const LINES = { capacity: 100, refillMs: 600 }
const MAX_KEYS = 1_000
// A user name is as long as its bearer likes.
const USER_LIMIT = 256

/** Creates what tells metrics and log of an answer that was begun at that time of the clock: the same refusal of the same user once a minute. */
export function createReport({ metrics, log, now }: ReportDeps) {
  const once = createKeyedLimit(ONCE, MAX_KEYS)
  const write = createLineLimit(LINES, (entry) => log.info(entry, 'judged'), now)
  return (request: AdmissionRequest, { verdict, reason }: Answer, startedAt: number): void => {
    const { uid, operation, object, oldObject, userInfo } = request
    const { kind } = request.kind
    metrics.requests.inc({ kind, operation, verdict, reason })
    metrics.duration.observe({ verdict }, (now() - startedAt) / 1000)
    const subject = [object, oldObject].find(isKubeObject)
    if (verdict === 'allowed' || !subject) return
    const { namespace, name } = subject.metadata
    const user = cut(userInfo.username, USER_LIMIT)
    const what = { kind, namespace, name, operation, verdict, reason, user }
    if (once(JSON.stringify(what), now())) write({ uid, ...what })
  }
}
