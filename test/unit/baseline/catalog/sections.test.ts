import t from 'tap'
import type { Asset } from '../../../../src/shared/baseline/catalog/catalog.ts'
import {
  isInForce,
  sectionsInForce,
  waitingSections,
} from '../../../../src/shared/baseline/catalog/sections.ts'
import { assetNamed, type Changes, factsWith } from '../facts.ts'

// Ours wait for no hardware.
const [usb] = assetNamed('hco-golden-config').sections
if (!usb) throw new Error('there is a section')
const hco: Asset = {
  ...assetNamed('hco-golden-config'),
  sections: [
    {
      ...usb,
      conditions: [...usb.conditions, { type: 'hardware-detection', detector: 'gpuPresent' }],
    },
  ],
}
const kubelet: Asset = {
  ...assetNamed('kubelet-perf-settings'),
  sections: [
    {
      ...usb,
      name: 'numa',
      install: 'always',
      conditions: [{ type: 'hardware-detection', detector: 'numaNodesPresent' }],
    },
  ],
}
const USB = 'hco-golden-config/usb-passthrough'
const NUMA = 'kubelet-perf-settings/numa'
const asked = { hco: { annotations: { 'usb-devices': '046d:0825' } } }
const there = { hardware: { gpuPresent: true, numaNodesPresent: true } }

const inForce = (changes: Changes) => sectionsInForce([hco, kubelet], factsWith(changes))

t.test('a section comes into force when all its conditions hold', async (t) => {
  t.notOk(inForce({}).includes(NUMA))
  t.ok(inForce(there).includes(NUMA))
  t.notOk(inForce(there).includes(USB), 'nobody has asked')
  t.notOk(inForce(asked).includes(USB), 'no device is there')
  t.ok(inForce({ ...asked, ...there }).includes(USB))
})

t.test('hardware that goes takes nothing away, whoever asked no longer does', async (t) => {
  const sections = [USB, NUMA]
  t.ok(inForce({ sections }).includes(NUMA))
  t.ok(inForce({ ...asked, sections }).includes(USB))
  t.notOk(inForce({ sections }).includes(USB))
})

t.test('a list that is none leaves the section as it was', async (t) => {
  const wrong = { hco: { annotations: { 'usb-devices': 'x' } } }
  t.notOk(inForce({ ...wrong, ...there }).includes(USB))
  t.ok(inForce({ ...wrong, sections: [USB] }).includes(USB))
  const [section] = hco.sections
  if (!section) throw new Error('there is a section')
  t.throws(() => isInForce(hco, section, factsWith(wrong)), { message: /usb-devices must be/ })
})

t.test('a condition in error is found behind one that does not hold', async (t) => {
  const [section] = hco.sections
  if (!section) throw new Error('there is a section')
  const reversed = { ...section, conditions: section.conditions.toReversed() }
  const wrong = factsWith({ hco: { annotations: { 'usb-devices': 'x' } } })
  t.throws(() => isInForce(hco, reversed, wrong), { message: /usb-devices must be/ })
  t.same(sectionsInForce([{ ...hco, sections: [reversed] }], wrong), [])
})

t.test('what was asked for and waits is told, what nobody asked for is not', async (t) => {
  t.same(waitingSections(hco, factsWith(asked)), [
    'its section usb-passthrough waits until gpuPresent on some node',
  ])
  t.same(waitingSections(hco, factsWith({ ...asked, ...there })), [])
  t.same(waitingSections(hco, factsWith({ ...asked, sections: [USB] })), [])
  t.same(waitingSections(hco, factsWith({})), [])
  t.same(waitingSections(kubelet, factsWith({})), [])
})
