import t from 'tap'
import { Ledger } from '../../../../src/reconciler/baseline/ledger.ts'
import { detectHardware, holdHardware } from '../../../../src/shared/baseline/facts/hardware.ts'
import { type State, stateData, UNKNOWN } from '../../../../src/shared/baseline/state.ts'
import { factsWith } from '../../baseline/facts.ts'

const STATE: State = {
  ...UNKNOWN,
  facts: factsWith({}),
  hardware: holdHardware(undefined, detectHardware([]), 0),
  settings: {},
  baselines: { metallb: 'abc' },
  registered: { MutatingWebhookConfiguration: 'u-1' },
}

t.test(
  'what an earlier leader published is to be published until there is anything new',
  async (t) => {
    let changes = 0
    const ledger = new Ledger(() => {
      changes++
    })
    t.equal(ledger.state, undefined, 'nobody published anything')
    t.equal(ledger.data, undefined)
    ledger.resume(stateData(STATE))
    t.same(ledger.state, STATE)
    t.same(ledger.data, stateData(STATE))
    const { facts, settings, baselines } = STATE
    ledger.note({ facts, settings, baselines })
    t.equal(changes, 0, 'it is as it was published')
    ledger.noteAbsence()
    t.same(ledger.state, { ...STATE, hasHyperConverged: false })
    ledger.noteAbsence()
    t.equal(changes, 1, 'told once')
    ledger.note({ hasHyperConverged: true, baselines: { metallb: 'def' } })
    t.same(ledger.state, { ...STATE, baselines: { metallb: 'def' } })
    t.equal(changes, 2)
  },
)

t.test('before the first state it is published that there is no HyperConverged', async (t) => {
  let changes = 0
  const ledger = new Ledger(() => {
    changes++
  })
  ledger.noteAbsence()
  ledger.noteAbsence()
  t.equal(changes, 1, 'told once')
  t.equal(ledger.state, undefined, 'which is no state')
  t.same(ledger.data, { 'hasHyperConverged.json': 'false' })
  const { facts, settings, baselines } = STATE
  ledger.note({ facts, settings, baselines, hasHyperConverged: true })
  t.same(ledger.data, stateData({ ...UNKNOWN, facts, settings, baselines }))
})

t.test(
  'what of another version is understood stays published without a HyperConverged',
  async (t) => {
    const ledger = new Ledger(() => undefined)
    const { facts: _unreadable, ...rest } = STATE
    ledger.resume(stateData(rest))
    t.equal(ledger.data, undefined, 'one may be there')
    ledger.noteAbsence()
    const { baselines: _ofState, ...memory } = { ...rest, hasHyperConverged: false }
    t.same(ledger.data, stateData(memory))
  },
)

t.test('before the first look at the cluster there is no state', async (t) => {
  let changes = 0
  const ledger = new Ledger(() => {
    changes++
  })
  ledger.note({ facts: STATE.facts })
  ledger.note({ settings: STATE.settings })
  t.equal(ledger.state, undefined)
  ledger.note({ baselines: STATE.baselines })
  t.match(ledger.state, { facts: STATE.facts, baselines: STATE.baselines })
  t.equal(changes, 1)
})

t.test('what is known of a registration is a part of the state', async (t) => {
  const ledger = new Ledger(() => undefined)
  ledger.resume(stateData(STATE))
  const { facts, settings, baselines } = STATE
  ledger.note({ facts, settings, baselines })
  const kind = 'MutatingWebhookConfiguration'
  t.same(ledger.memory.registered, { [kind]: 'u-1' })
  ledger.note({ registered: { [kind]: 'u-1' }, unregistered: { [kind]: 7 } })
  t.same(ledger.state?.unregistered, { [kind]: 7 })
  ledger.note({ registered: {}, unregistered: {} })
  t.same(ledger.state, { ...STATE, registered: {}, unregistered: {} })
})
