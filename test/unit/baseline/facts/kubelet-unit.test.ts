import t from 'tap'
import { kubeletUnitOf, readsDropIns } from '../../../../src/shared/baseline/facts/kubelet-unit.ts'
import { DEAF, LISTENING } from '../../assets/kubelet-texts.ts'

const machineConfig = (units?: readonly object[]) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name: '01-worker-kubelet', resourceVersion: '7' },
  spec: { config: { ...(units && { systemd: { units } }) }, osImageURL: 'long' },
})
const withUnit = (contents: string, name = 'kubelet.service') =>
  machineConfig([
    { name: 'crio.service', contents: 'x' },
    { name, contents },
  ])

for (const [what, text] of DEAF)
  t.test(`a kubelet reads no folder of settings by ${what}`, async (t) => {
    t.notOk(readsDropIns(withUnit(text)))
  })

for (const [what, text] of LISTENING)
  t.test(`a kubelet reads the folder by ${what}`, async (t) => {
    t.ok(readsDropIns(withUnit(text)))
    t.notOk(readsDropIns(withUnit(text, 'other.service')), 'another unit is none of it')
    const dropins = [{ name: '10-mco.conf', contents: text }]
    t.ok(readsDropIns(machineConfig([{ name: 'kubelet.service', dropins }])), 'in a drop-in, too')
  })

t.test('a kubelet of which nothing is known reads none', async (t) => {
  t.notOk(readsDropIns(undefined))
  t.notOk(readsDropIns(machineConfig()))
  t.notOk(readsDropIns(machineConfig([])))
  t.notOk(readsDropIns(machineConfig([{ name: 'kubelet.service' }])))
})

t.test('what is kept of the MachineConfig says the same, and no more', async (t) => {
  for (const [, text] of [...DEAF, ...LISTENING]) {
    const kept = kubeletUnitOf(withUnit(text))
    t.equal(readsDropIns(kept), readsDropIns(withUnit(text)))
    t.strictSame(kept.metadata, { name: '01-worker-kubelet' })
    t.notOk(JSON.stringify(kept).includes('crio.service'))
  }
})
