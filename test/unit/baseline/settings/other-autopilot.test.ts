import t from 'tap'
import {
  isToRun,
  type OtherAutopilot,
  otherBeside,
  tellHowAlone,
  tellOther,
} from '../../../../src/shared/baseline/settings/other-autopilot.ts'

const deployment = (spec?: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'virt-platform-autopilot', namespace: 'openshift-cnv' },
  ...(spec && { spec }),
})

const deployments: readonly (readonly [
  what: string,
  found: ReturnType<typeof deployment> | undefined,
  isToRun: boolean,
])[] = [
  ['no Deployment', undefined, false],
  ['one of no replicas', deployment({ replicas: 0 }), false],
  ['one replica', deployment({ replicas: 1 }), true],
  ['several replicas', deployment({ replicas: 3 }), true],
  ['a Deployment that does not say how many', deployment({}), true],
  ['a Deployment of which nothing more is known', deployment(), true],
]

for (const [what, found, isWanted] of deployments) {
  t.test(`${what} ${isWanted ? 'has something' : 'has nothing'} to run`, async (t) => {
    t.equal(isToRun(found), isWanted)
  })
}

const texts: readonly (readonly [text: string | undefined, active: OtherAutopilot])[] = [
  [undefined, 'idle'],
  ['', 'idle'],
  ['  \n', 'idle'],
  ['false', 'idle'],
  [' false ', 'idle'],
  [',', 'idle'],
  [' , ,', 'idle'],
  ['true', 'active'],
  [' true ', 'active'],
  ['observe', 'active'],
  ['False', 'active'],
  ['false,', 'active'],
  ['no', 'active'],
  ['yes', 'active'],
  ['swap-enable', 'active'],
  [' swap-enable , hco ', 'active'],
  [',swap-enable,', 'active'],
  ['{{{', 'active'],
]

for (const [text, wanted] of texts) {
  t.test(`beside autopilot: ${JSON.stringify(text)} another one is ${wanted}`, async (t) => {
    t.equal(otherBeside(true, text), wanted)
    t.equal(otherBeside(false, text), 'absent', 'and without it, absent')
  })
}

t.test('says who it is, and the command that helps', async (t) => {
  const hco = { metadata: { name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv' } }
  t.match(tellOther(hco), /^the Deployment openshift-cnv\/virt-platform-autopilot is another /)
  t.match(
    tellHowAlone(hco),
    /: kubectl annotate hyperconverged -n openshift-cnv kubevirt-hyperconverged platform\.kubevirt\.io\/autopilot-$/,
  )
  const title = 'HyperConverged openshift-cnv/kubevirt-hyperconverged: '
  for (const note of [tellOther(hco), tellHowAlone(hco)])
    t.ok(title.length + note.length <= 256, 'fits into a warning')
})
