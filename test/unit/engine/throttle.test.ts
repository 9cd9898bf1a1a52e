import t from 'tap'

import {
  type HealMemory,
  permitHeal,
  postponePause,
  spendHeal,
} from '../../../src/shared/engine/throttle.ts'

const SECOND = 1_000
const limits = { capacity: 5, windowMs: 60 * SECOND }

/** Wants to heal at each time, and says what came of it. */
function war(times: readonly number[], memory?: HealMemory) {
  let known = memory
  const seen = times.map((now) => {
    const permit = permitHeal(known, limits, now)
    known = permit.kind === 'go' ? spendHeal(permit.memory, limits, now) : permit.memory
    return permit.kind
  })
  return { seen, memory: known }
}

const every = (ms: number, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => from + index * ms)

/** How often each came one after the other: `go 5, wait 3`. */
const runs = (kinds: readonly string[]) =>
  kinds
    .reduce<{ kind: string; count: number }[]>((all, kind) => {
      const last = all.at(-1)
      if (last?.kind === kind) last.count++
      else all.push({ kind, count: 1 })
      return all
    }, [])
    .map(({ kind, count }) => `${kind} ${count}`)
    .join(', ')

t.test(
  'five heals a minute are made, then the object is left alone for a full refill',
  async (t) => {
    t.equal(runs(war(every(SECOND, 60)).seen), 'go 5, wait 55')
    t.equal(runs(war(every(SECOND, 66)).seen), 'go 5, wait 60, go 1')
  },
)

t.test('three throttles in a row, a full refill apart, ask for a pause', async (t) => {
  const { seen, memory } = war(every(SECOND, 200))
  t.equal(runs(seen), 'go 5, wait 60, go 5, wait 60, go 5, pause 65')
  t.equal(permitHeal(memory, limits, 3_600 * SECOND).kind, 'pause', 'until it was written')
})

t.test('a war that is only a little too fast is found out too', async (t) => {
  const { seen } = war(every(10 * SECOND, 200))
  t.equal(seen.filter((kind) => kind === 'pause').length > 0, true)
})

t.test('a heal every twelve seconds is never throttled', async (t) => {
  t.equal(runs(war(every(12 * SECOND, 500)).seen), 'go 500')
})

t.test('a minute of peace after the wait ends the row', async (t) => {
  const first = war(every(SECOND, 6))
  t.equal(runs(first.seen), 'go 5, wait 1')
  const second = war(every(SECOND, 6, 70 * SECOND), first.memory)
  t.equal(second.memory?.throttles, 2, 'without peace the row goes on')
  const peace = war(every(SECOND, 6, 130 * SECOND), first.memory)
  t.equal(peace.memory?.throttles, 1)
})

t.test('where there is nothing to pause, the wait goes on, window by window', async (t) => {
  let memory: HealMemory | undefined = war(every(SECOND, 126)).memory
  const waits: number[] = []
  let healed = 0
  for (const now of every(SECOND, 600, 126 * SECOND)) {
    const permit = permitHeal(memory, limits, now)
    if (permit.kind === 'pause') {
      memory = postponePause(permit.memory, limits, now)
      waits.push(now)
    } else if (permit.kind === 'go') {
      memory = spendHeal(permit.memory, limits, now)
      healed++
    } else memory = permit.memory
  }
  t.ok(waits.length >= 8 && waits.length <= 11, `${waits.length} waits in ten minutes`)
  t.ok(healed >= 40 && healed <= 50, `${healed} tries, five between two of them`)
})

t.test('what is permitted and not made costs nothing', async (t) => {
  const { memory } = war(every(SECOND, 4))
  for (const now of every(10, 100, 5 * SECOND)) t.equal(permitHeal(memory, limits, now).kind, 'go')
  t.equal(permitHeal(undefined, limits, 0).memory, undefined)
})

t.test('a heal that was made without a token leaves an empty bucket', async (t) => {
  const { memory } = war(every(SECOND, 5))
  t.equal(spendHeal(memory, limits, 5 * SECOND).bucket?.tokens, 0)
})
