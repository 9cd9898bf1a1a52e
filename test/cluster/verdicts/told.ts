import type { Test } from 'tap'
import type { Told } from './writes/actor.ts'

/** What somebody is to be told of a write. */
export interface Expected {
  /** What the API server answers; undefined where nobody cares which success it is. */
  readonly status: number | undefined
  /** All warnings, one by one; of what is refused, what the refusal says. */
  readonly told: readonly RegExp[]
}

/** Compares what somebody was told with what they are to be told, and nothing else. */
export function expectTold(
  t: Test,
  { status, warnings, error }: Told,
  { status: expected, told }: Expected,
  who: string,
): void {
  if (expected !== undefined) t.equal(status, expected, `${who} is answered ${expected}`)
  if (expected === undefined || expected < 300) {
    t.match(warnings, told, `what ${who} is told`)
    t.equal(warnings.length, told.length, warnings.join('\n'))
    t.notMatch(error, /^error/im)
  } else {
    t.strictSame(warnings, [])
    for (const text of told) t.match(error, text, `what ${who} is told`)
  }
}
