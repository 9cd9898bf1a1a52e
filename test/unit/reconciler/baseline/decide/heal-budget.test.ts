import t from 'tap'

import {
  type HealBudget,
  permitIn,
  remember,
  requeueAfterMs,
  spentOn,
} from '../../../../../src/reconciler/baseline/decide/memory.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'
import { objectWith } from '../../../engine/merge/schemas.ts'

const SECOND = 1_000
const healLimits = { capacity: 2, windowMs: 10 * SECOND }
const desired = (text: string) => objectWith({ text })

const throttled = {
  kind: 'throttled',
  plan: { kind: 'enforce', desired: desired('x'), released: [], isPatched: false, remarks: [] },
  drifts: [],
  rivals: [],
  isPaused: false,
} as const

/** The budget of one object, by a clock of the test's own. */
class Object1 {
  budget: HealBudget | undefined
  uptime = 0

  permit(object: KubeObject, isThere = true) {
    const { permit, budget } = permitIn(this.budget, object, isThere, { healLimits, ...this })
    this.budget = budget
    return permit
  }

  spend(object: KubeObject) {
    this.budget = spentOn(object, this.budget, { healLimits, ...this })
  }

  /** When it is looked at again once it is throttled. */
  waitMs() {
    return requeueAfterMs(throttled, { heals: this.budget }, this.uptime)
  }
}

t.test('to bring an object to another state of ours is no heal', async (t) => {
  const object = new Object1()
  for (let round = 0; round < 20; round++) {
    t.equal(object.permit(desired(String(round))), 'go')
    object.spend(desired(String(round)))
  }
})

t.test('to bring it back to the same one is', async (t) => {
  const object = new Object1()
  t.equal(object.waitMs(), SECOND, 'not at once')
  for (let round = 0; round < 3; round++) object.spend(desired('x'))
  t.equal(object.permit(desired('x')), 'wait')
  t.equal(object.waitMs(), 10 * SECOND)
  object.uptime = 4 * SECOND
  t.equal(object.waitMs(), 6 * SECOND)
  object.uptime = 11 * SECOND
  t.equal(object.waitMs(), SECOND)
})

t.test('an apply that failed counts for nothing', async (t) => {
  const object = new Object1()
  object.spend(desired('x'))
  for (let round = 0; round < 20; round++) t.equal(object.permit(desired('x')), 'go')
})

t.test('a pause is asked for until it is written; what is not there only waits', async (t) => {
  const object = new Object1()
  const fight = (isThere: boolean) => {
    for (let round = 0; round < 100; round++, object.uptime += SECOND / 2) {
      const permit = object.permit(desired('x'), isThere)
      if (permit === 'pause') return permit
      if (permit === 'go') object.spend(desired('x'))
    }
    return 'none'
  }
  t.equal(fight(false), 'none')
  t.equal(fight(true), 'pause')
  t.equal(object.permit(desired('x')), 'pause', 'as long as it was not written')
  const outcome = { kind: 'skipped', reason: 'Paused' } as const
  const time = { healLimits, uptime: object.uptime, resyncs: 0 }
  t.same(remember({}, { outcome }, undefined, time), { heals: undefined })
  const { heals } = remember({ heals: object.budget }, { outcome }, undefined, time)
  object.budget = heals
  t.equal(object.permit(desired('x')), 'go')
})
