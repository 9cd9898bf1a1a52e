import t from 'tap'
import { BodyBudget } from '../../../../src/webhook/server/body.ts'

const limits = { bytes: 100, largeFrom: 10, keptForSmall: 25 }

const taken = (budget: BodyBudget, bytes: number, times: number) =>
  Array.from({ length: times }, () => budget.reserve().take(bytes)).filter(Boolean).length

t.test('what is under way never holds more than its limit', async (t) => {
  const budget = new BodyBudget(limits)
  t.equal(taken(budget, 9, 30), 11)
  t.notOk(budget.hasRoom(2))
  t.notOk(budget.reserve().take(2))
  t.ok(budget.hasRoom(1))
  t.ok(budget.reserve().take(1))
})

t.test('large requests leave room for small ones', async (t) => {
  const budget = new BodyBudget(limits)
  t.equal(taken(budget, 25, 10), 3)
  t.notOk(budget.hasRoom(10))
  t.ok(budget.hasRoom(9))
  t.ok(budget.reserve().take(9))
  t.ok(budget.reserve().take(0))
})

t.test('a request that says that it is large keeps nothing before it arrives', async (t) => {
  const budget = new BodyBudget(limits)
  for (let count = 0; count < 1_000; count++) {
    t.ok(budget.hasRoom(75))
    budget.reserve()
  }
  t.ok(budget.reserve().take(75))
})

t.test('a request becomes a large one by what arrives, with all that came before', async (t) => {
  const budget = new BodyBudget(limits)
  const growing = budget.reserve()
  for (let count = 0; count < 8; count++) t.ok(growing.take(9))
  t.notOk(growing.take(9), 'it has the room of large ones and no more')
  t.ok(growing.take(3), 'what did not fit was not taken')
  t.notOk(growing.take(1))
  t.equal(taken(budget, 5, 10), 5, 'the rest is for small ones')
})

t.test('room is given back once, however often that is said', async (t) => {
  const budget = new BodyBudget(limits)
  const [first, second] = [budget.reserve(), budget.reserve()]
  t.ok(first.take(50) && second.take(25))
  t.notOk(budget.hasRoom(50))
  first.release()
  first.release()
  t.ok(budget.reserve().take(50))
  t.notOk(budget.hasRoom(50))
})
