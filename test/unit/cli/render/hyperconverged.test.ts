import t from 'tap'

import {
  chooseHyperConverged,
  plainHyperConverged,
} from '../../../../src/cli/render/hyperconverged.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { catalog } from '../../baseline/facts.ts'

const NAME = 'kubevirt-hyperconverged'
const hco = (metadata: object = {}, version = 'v1'): KubeObject => ({
  apiVersion: `hco.kubevirt.io/${version}`,
  kind: 'HyperConverged',
  metadata: { name: NAME, ...metadata },
  spec: {},
})
const choose = (objects: readonly KubeObject[], namespace?: string) =>
  chooseHyperConverged(catalog, { file: 'hco.yaml', objects, namespace })

t.test('the only one is chosen, in its own namespace or the usual one', async (t) => {
  t.same(choose([hco({ namespace: 'a' })]), hco({ namespace: 'a' }))
  t.same(choose([hco()]).metadata.namespace, 'openshift-cnv')
  t.same(choose([hco()], 'b').metadata.namespace, 'b')
  t.same(choose([hco({}, 'v1beta1')]).apiVersion, 'hco.kubevirt.io/v1beta1')
})

t.test('of several the one in the namespace that is asked for', async (t) => {
  const both = [hco({ namespace: 'a' }), hco({ namespace: 'b' })]
  t.same(choose(both, 'b'), both[1])
  t.throws(() => choose(both), {
    message: `--hco hco.yaml holds HyperConverged a/${NAME} and HyperConverged b/${NAME}: choose with --hco-namespace`,
  })
})

for (const [what, objects, namespace, fault] of [
  ['none', [], undefined, /^--hco hco.yaml holds no HyperConverged$/],
  [
    'one elsewhere',
    [hco({ namespace: 'a' })],
    'b',
    /holds no HyperConverged in namespace b \(--hco-namespace\)$/,
  ],
  [
    'another kind',
    [hco(), { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }],
    undefined,
    /^--hco hco.yaml: Node n is no HyperConverged: give what else facts are read from with --nodes$/,
  ],
  ['another name', [hco({ name: 'x' })], undefined, /x must be named kubevirt-hyperconverged$/],
  [
    'another version',
    [hco({}, 'v1alpha1')],
    undefined,
    /is of version hco.kubevirt.io\/v1alpha1: write it as hco.kubevirt.io\/v1 or hco.kubevirt.io\/v1beta1$/,
  ],
] as const) {
  t.test(`a file is refused that holds ${what}`, async (t) => {
    t.throws(() => choose(objects as readonly KubeObject[], namespace), { message: fault })
  })
}

t.test('without a file nothing is set', async (t) => {
  t.same(plainHyperConverged(catalog), hco({ namespace: 'openshift-cnv' }))
  t.same(plainHyperConverged(catalog, 'kubevirt'), hco({ namespace: 'kubevirt' }))
})
