import t from 'tap'
import { RegistrationNotes } from '../../../../src/reconciler/admission/registration-notes.ts'

const KIND = 'ValidatingWebhookConfiguration'

t.test('what one leader noted the next one knows', async (t) => {
  let changes = 0
  const notes = new RegistrationNotes(() => {
    changes++
  })
  t.strictSame(notes.memory, { registered: {}, unregistered: {} })
  const known = { registered: { [KIND]: 'uid' }, unregistered: { [KIND]: 1 } }
  notes.note(known)
  notes.note(structuredClone(known))
  t.equal(changes, 1, 'the same is not published again')
  const next = new RegistrationNotes(() => t.fail('nothing is news'))
  next.resume(notes.data)
  t.strictSame(next.memory, known)
})

t.test('what somebody made of it is taken as far as it can be read', async (t) => {
  const nothing = { registered: {}, unregistered: {} }
  for (const [data, memory] of [
    [undefined, nothing],
    [{}, nothing],
    [{ 'registered.json': '{', 'unregistered.json': '[]' }, nothing],
    [{ 'registered.json': 1, 'unregistered.json': 'null' }, nothing],
    [
      { 'registered.json': '{"a":"uid","b":1}', 'unregistered.json': '{"a":1,"b":"uid"}' },
      { registered: { a: 'uid' }, unregistered: { a: 1 } },
    ],
  ]) {
    const notes = new RegistrationNotes(() => t.fail('nothing is news'))
    notes.resume(data)
    t.strictSame(notes.memory, memory)
  }
})
