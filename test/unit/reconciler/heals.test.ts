import t from 'tap'

import { Heals } from '../../../src/reconciler/baseline/decide/heals.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { objectWith } from '../engine/schemas.ts'

const SECOND = 1_000
const desired = (text: string) => objectWith({ text })

/** Heals by a clock of the test's own. */
function healsAt(clock: { now: number }) {
  return new Heals({ capacity: 2, windowMs: 10 * SECOND }, sha256, () => clock.now)
}

t.test('to bring an object to another state of ours is no heal', async (t) => {
  const heals = healsAt({ now: 0 })
  for (let round = 0; round < 20; round++) {
    t.equal(heals.permit('a', desired(String(round)), true), 'go')
    heals.spend('a', desired(String(round)))
  }
})

t.test('to bring it back to the same one is, and each asset has heals of its own', async (t) => {
  const heals = healsAt({ now: 0 })
  for (let round = 0; round < 3; round++) heals.spend('a', desired('x'))
  t.equal(heals.permit('a', desired('x'), true), 'wait')
  t.equal(heals.waitMs('a'), 10 * SECOND)
  t.equal(heals.permit('b', desired('x'), true), 'go')
  t.equal(heals.waitMs('b'), 0)
})

t.test('an apply that failed counts for nothing', async (t) => {
  const heals = healsAt({ now: 0 })
  heals.spend('a', desired('x'))
  for (let round = 0; round < 20; round++) t.equal(heals.permit('a', desired('x'), true), 'go')
})

t.test('a pause is asked for until it is forgotten; what is not there only waits', async (t) => {
  const clock = { now: 0 }
  const heals = healsAt(clock)
  const fight = (isThere: boolean) => {
    for (let round = 0; round < 100; round++, clock.now += SECOND / 2) {
      const permit = heals.permit('a', desired('x'), isThere)
      if (permit === 'pause') return permit
      if (permit === 'go') heals.spend('a', desired('x'))
    }
    return 'none'
  }
  t.equal(fight(false), 'none')
  t.equal(fight(true), 'pause')
  t.equal(heals.permit('a', desired('x'), true), 'pause', 'as long as it was not written')
  heals.forget('a')
  heals.forget('unknown')
  t.equal(heals.permit('a', desired('x'), true), 'go')
})
