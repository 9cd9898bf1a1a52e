import t from 'tap'
import { Intake } from '../../../src/webhook/server/intake.ts'

const limits = { bytes: 100, largeFrom: 10, keptForSmall: 25 }

const taken = (intake: Intake, bytes: number, times: number) =>
  Array.from({ length: times }, () => intake.begin().take(bytes)).filter(Boolean).length

t.test('what is under way never holds more than its limit', async (t) => {
  const intake = new Intake(limits)
  t.equal(taken(intake, 9, 30), 11)
  t.notOk(intake.hasRoom(2))
  t.notOk(intake.begin().take(2))
  t.ok(intake.hasRoom(1))
  t.ok(intake.begin().take(1))
})

t.test('large requests leave room for small ones', async (t) => {
  const intake = new Intake(limits)
  t.equal(taken(intake, 25, 10), 3)
  t.notOk(intake.hasRoom(10))
  t.ok(intake.hasRoom(9))
  t.ok(intake.begin().take(9))
  t.ok(intake.begin().take(0))
})

t.test('a request that says that it is large keeps nothing before it arrives', async (t) => {
  const intake = new Intake(limits)
  for (let count = 0; count < 1_000; count++) {
    t.ok(intake.hasRoom(75))
    intake.begin()
  }
  t.ok(intake.begin().take(75))
})

t.test('a request becomes a large one by what arrives, with all that came before', async (t) => {
  const intake = new Intake(limits)
  const growing = intake.begin()
  for (let count = 0; count < 8; count++) t.ok(growing.take(9))
  t.notOk(growing.take(9), 'it has the room of large ones and no more')
  t.ok(growing.take(3), 'what did not fit was not taken')
  t.notOk(growing.take(1))
  t.equal(taken(intake, 5, 10), 5, 'the rest is for small ones')
})

t.test('room is given back once, however often that is said', async (t) => {
  const intake = new Intake(limits)
  const [first, second] = [intake.begin(), intake.begin()]
  t.ok(first.take(50) && second.take(25))
  t.notOk(intake.hasRoom(50))
  first.giveBack()
  first.giveBack()
  t.notOk(first.take(1), 'it is over')
  t.ok(intake.begin().take(50))
  t.notOk(intake.hasRoom(50))
})
