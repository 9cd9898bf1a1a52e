import t from 'tap'
import { Ledger } from '../../../src/reconciler/baseline/ledger.ts'
import { detectHardware, holdHardware } from '../../../src/shared/baseline/facts/hardware.ts'
import { type State, stateData, UNKNOWN } from '../../../src/shared/baseline/state.ts'
import { factsWith } from '../catalog/facts.ts'

const STATE: State = {
  ...UNKNOWN,
  facts: factsWith({}),
  hardware: holdHardware(undefined, detectHardware([]), 0),
  settings: {},
  baselines: { metallb: 'abc' },
  registered: { MutatingWebhookConfiguration: 'u-1' },
}

t.test('what an earlier leader published is put back before there is anything new', async (t) => {
  const published: State[] = []
  const ledger = new Ledger((state) => published.push(state))
  ledger.republish(undefined)
  t.same(published, [], 'nobody published anything')
  ledger.resume(stateData(STATE))
  ledger.republish(stateData(STATE))
  t.same(published, [], 'it is as it was published')
  ledger.republish(undefined)
  t.same(published, [STATE])
  ledger.noteAbsence()
  ledger.republish({ 'facts.json': '{}' })
  const absent = { ...STATE, hasHyperConverged: false }
  t.same(published.slice(1), [absent, absent])
})
