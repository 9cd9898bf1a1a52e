import t from 'tap'

import {
  hyperConvergedOf,
  isWithoutHyperConverged,
  type Known,
  unavailability,
} from '../../../../../src/reconciler/baseline/gather/availability.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'

const hco = (namespace: string, name = 'kubevirt-hyperconverged'): KubeObject => ({
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: { name, namespace },
})
const known: Known = {
  hcos: [hco('a')],
  hcoName: 'kubevirt-hyperconverged',
  isHcoServed: true,
  areFactsRead: true,
  isOtherRead: true,
}

const cases: readonly (readonly [what: string, Partial<Known>, reason: string | undefined])[] = [
  ['everything is known', {}, undefined],
  [
    'the API is not served, whatever else is not read',
    { isHcoServed: false, areFactsRead: false },
    'NoApi',
  ],
  ['facts are not read', { areFactsRead: false, hcos: [] }, 'NotYet'],
  ['it is not known whether another autopilot is there', { isOtherRead: false }, 'NotYet'],
  ['there is no HyperConverged', { hcos: [], isOtherRead: false }, 'NoHyperConverged'],
  ['there is one of another name', { hcos: [hco('a', 'other')] }, 'NoHyperConverged'],
  ['there are two', { hcos: [hco('a'), hco('b')] }, 'TwoHyperConvergeds'],
  ['there are two, of another name one', { hcos: [hco('a'), hco('b', 'c')] }, 'TwoHyperConvergeds'],
]

for (const [what, changes, reason] of cases) {
  t.test(what, async (t) => {
    const why = unavailability({ ...known, ...changes })
    t.equal(why?.reason, reason)
    const isWithout = reason === 'NoApi' || reason === 'NoHyperConverged'
    if (why) t.equal(isWithoutHyperConverged(why), isWithout)
  })
}

t.test('several HyperConvergeds are named, with the way out', async (t) => {
  const why = unavailability({ ...known, hcos: [hco('a'), hco('b')] })
  const { message } = why as { message: string }
  t.match(
    message,
    /several HyperConvergeds, a\/kubevirt-hyperconverged and b\/kubevirt-hyperconverged: delete one, or choose with --hco-namespace/,
  )
})

t.test('only one HyperConverged of the catalog’s name counts', async (t) => {
  const [one, two] = [hco('a'), hco('b')]
  t.equal(hyperConvergedOf([one], 'kubevirt-hyperconverged'), one)
  t.equal(hyperConvergedOf([one, two], 'kubevirt-hyperconverged'), undefined)
  t.equal(hyperConvergedOf([one], 'other'), undefined)
  t.equal(hyperConvergedOf([], undefined), undefined)
})
