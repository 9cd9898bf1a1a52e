import fc from 'fast-check'
import t from 'tap'

import { exitCodeOf } from '../../../../src/cli/check/check.ts'
import { type Assumed, judge, managedFor } from '../../../../src/cli/check/judge.ts'
import { AUTOPILOT, DISABLED_RESOURCES } from '../../../../src/shared/baseline/annotations.ts'
import type { State } from '../../../../src/shared/baseline/state.ts'
import { MAX_VALUES } from '../../../../src/shared/engine/json/json.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { sha256 } from '../../../../src/shared/ops/digest.ts'
import { runs } from '../../runs.ts'
import { baselineOf, edited, facts, managedBy, snapshot, snapshotOf } from '../../webhook/known.ts'

const known = snapshotOf()
const NOTHING = { hco: false, others: false }
const judged = (
  object: KubeObject,
  enforcement?: 'correct' | 'deny',
  at = known,
  assumed: Assumed = NOTHING,
) => {
  const managed = managedFor(object, at)
  if (!managed) throw new Error('nobody of ours')
  const { status } = managed
  return judge({ file: 'f.yaml', line: 3, object }, managed, {
    snapshot: at,
    stored: status.kind === 'active' ? status.baseline : undefined,
    enforcement,
    digest: sha256,
    assumed,
  })
}

const metallb = baselineOf('metallb')
const check = baselineOf('node-health-standard')
const swap = baselineOf('swap-enable')
const psi = { ...swap, metadata: { name: '99-openshift-machineconfig-worker-psi-karg' } }
const partOf = ({ apiVersion, kind, metadata: { name } }: KubeObject, more: object = {}) =>
  ({ apiVersion, kind, metadata: { name }, ...more }) as KubeObject
const annotated = (object: KubeObject, key: string, value: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [`platform.kubevirt.io/${key}`]: value } },
})
const unhealthy = partOf(check, { spec: { minHealthy: '7%' } })
const older = partOf(swap, { spec: { config: { ignition: { version: '3.1.0' } } } })

const cases: readonly (readonly [
  what: string,
  object: KubeObject,
  verdict: string,
  reason: string,
  message?: RegExp,
])[] = [
  ['the baseline itself', check, 'allowed', 'InSync'],
  ['a part of it', partOf(check), 'allowed', 'InSync'],
  [
    'an annotation that YAML takes for no text',
    annotated(check, 'reconcile-paused', true as unknown as string),
    'denied',
    'Invalid',
    /metadata\.annotations\[platform\.kubevirt\.io\/reconcile-paused\] is true, which is no text: .* quotes/,
  ],
  [
    'a label that YAML takes for no text',
    {
      ...check,
      metadata: { ...check.metadata, labels: { 'example.com/tier': 1 as unknown as string } },
    },
    'denied',
    'Invalid',
    /metadata\.labels\[example\.com\/tier\] is 1, which is no text/,
  ],
  [
    'an annotation without a value, which is an empty text',
    annotated(check, 'reconcile-paused', null as unknown as string),
    'denied',
    'InvalidOverride',
  ],
  [
    'annotations in a list',
    {
      ...check,
      metadata: { ...check.metadata, annotations: [] as unknown as Record<string, string> },
    },
    'denied',
    'Invalid',
    /metadata\.annotations is no map/,
  ],
  ['fields of one’s own', partOf(metallb, { spec: { logLevel: 'debug' } }), 'allowed', 'InSync'],
  [
    'a managed field set otherwise',
    unhealthy,
    'corrected',
    'Drift',
    /minHealthy kept at .*\n.*patch=/,
  ],
  [
    'one of a sensitive kind',
    older,
    'denied',
    'Drift',
    /This kind takes no patch[\s\S]*mode=unmanaged/,
  ],
  ['what somebody owns', annotated(unhealthy, 'mode', 'unmanaged'), 'allowed', 'Unmanaged'],
  [
    'a field that is ignored',
    annotated(unhealthy, 'ignore-fields', '/spec/minHealthy'),
    'allowed',
    'InSync',
  ],
  [
    'a patch with the value that it gives',
    annotated(unhealthy, 'patch', '[{"op":"add","path":"/spec/minHealthy","value":"7%"}]'),
    'allowed',
    'InSync',
  ],
  [
    'a patch alone, whose value is put in',
    annotated(partOf(check), 'patch', '[{"op":"add","path":"/spec/minHealthy","value":"7%"}]'),
    'allowed',
    'Override',
  ],
  [
    'an invalid override',
    annotated(unhealthy, 'mode', 'mine'),
    'denied',
    'InvalidOverride',
    /mode/,
  ],
  ['a patch of a sensitive kind', annotated(partOf(swap), 'patch', '[]'), 'denied', 'PatchBlocked'],
  [
    'another version',
    { ...partOf(check), apiVersion: 'remediation.medik8s.io/v1beta1' },
    'unknown',
    'OtherVersion',
    /kept as remediation.medik8s.io\/v1alpha1: write it so/,
  ],
  [
    'more than can be judged',
    partOf(check, { spec: { more: Array.from({ length: MAX_VALUES }, (_, index) => `${index}`) } }),
    'denied',
    'Oversized',
    /too many/,
  ],
]

for (const [what, object, verdict, reason, message] of cases)
  t.test(`${what}: ${verdict}`, async (t) => {
    const finding = judged(object)
    t.match(finding, { verdict, reason, file: 'f.yaml', line: 3 })
    t.match(finding.messages.join('\n'), message ?? /^/)
  })

t.test('the flag of the webhook counts, and the state that is published', async (t) => {
  t.match(judged(unhealthy, 'deny'), { verdict: 'denied', reason: 'Drift' })
  const settings = { 'platform.kubevirt.io/autopilot': 'observe' }
  t.match(judged(unhealthy, 'deny', snapshotOf({ settings })), { verdict: 'allowed' })
  const baselines = { 'node-health-standard': 'another' }
  t.match(judged(unhealthy, undefined, snapshotOf({ baselines })), {
    verdict: 'unknown',
    reason: 'Disagreement',
  })
})

const topology = { ...facts.topology, kubeletDropIns: false }
const inactive: readonly (readonly [
  what: string,
  object: KubeObject,
  state: Partial<State>,
  why: RegExp,
  option: '--hco' | '--nodes' | undefined,
])[] = [
  [
    'of what the cluster has',
    swap,
    { facts: { ...facts, topology } },
    /^swap-enable is not active.*: waits until the kubelets of the pool worker read/,
    '--nodes',
  ],
  [
    'of what nobody has asked for',
    psi,
    { facts: { ...facts, hco: { ...facts.hco, annotations: {} } } },
    /: waits until the HyperConverged is annotated \S+enable-loadaware=true/,
    '--hco',
  ],
  [
    'of what is switched off',
    swap,
    { facts: { ...facts, topology }, settings: { [DISABLED_RESOURCES]: '[swap-enable]' } },
    /: switched off by disabled-resources/,
    '--hco',
  ],
  [
    'of what is not selected',
    swap,
    { facts: { ...facts, topology }, settings: { [AUTOPILOT]: 'metallb' } },
    /: not in the autopilot list/,
    '--hco',
  ],
  [
    'of an API that is said not to be there',
    metallb,
    { facts: { ...facts, served: { ...facts.served, 'metallb.io/MetalLB': [] } } },
    /: the API metallb.io\/v1beta1 MetalLB is not served/,
    undefined,
  ],
]

for (const [what, object, state, why, option] of inactive)
  t.test(`what is not active for want ${what} passes, unless that is made up`, async (t) => {
    const at = snapshotOf(state)
    const on = (assumed: Assumed) => judged(partOf(object), undefined, at, assumed)
    const told = { verdict: 'allowed', reason: 'Inactive', messages: [why] }
    const unsure = { ...told, verdict: 'unknown' }
    t.match(on(NOTHING), told)
    t.match(on({ hco: true, others: false }), option === '--hco' ? unsure : told)
    t.match(on({ hco: false, others: true }), option === '--nodes' ? unsure : told)
    const [message = ''] = on({ hco: true, others: true }).messages
    if (option) t.match(message, `describe yours with ${option}, or ask it with --kubeconfig`)
    else t.notMatch(message, 'describe')
  })

t.test('the way out that is told leads out', async (t) => {
  const told = judged(unhealthy).messages.join('\n')
  const [, patch = ''] = /platform.kubevirt.io\/patch='(.*)'/.exec(told) ?? []
  t.match(judged(annotated(unhealthy, 'patch', patch)), { verdict: 'allowed', messages: [] })
})

t.test('an object that is stored is judged as it is', async (t) => {
  const managed = managedBy('node-health-standard')
  const stored = edited(check, { spec: (spec) => Object.assign(spec, { minHealthy: '7%' }) })
  const options = { snapshot, enforcement: undefined, digest: sha256, assumed: NOTHING }
  const verdictOn = (old: KubeObject | undefined) =>
    judge({ file: '-', line: 1, object: unhealthy }, managed, { ...options, stored: old })
  t.match(verdictOn(stored), { verdict: 'allowed' }, 'what was there before is the reconciler’s')
  t.match(verdictOn(undefined), { verdict: 'corrected', messages: [/set to/] }, 'a creation')
})

t.test('names the place of what the API server would refuse', async (t) => {
  const broken = { ...check, metadata: { ...check.metadata, uid: 1 } }
  t.throws(
    () => judged(broken as unknown as KubeObject),
    /^f.yaml:3: request.object of UPDATE is no/,
  )
})

t.test('finds ours by kind and name, and by namespace where one is stated', async (t) => {
  t.equal(managedFor(partOf(metallb), snapshot)?.asset.name, 'metallb')
  t.equal(managedFor(metallb, snapshot)?.asset.name, 'metallb')
  const elsewhere = { ...metallb, metadata: { ...metallb.metadata, namespace: 'default' } }
  t.equal(managedFor(elsewhere, snapshot), undefined)
  t.equal(managedFor({ ...metallb, apiVersion: 'metallb.com/v1' }, snapshot), undefined)
})

t.test('never fails at content of whatever shape', async () => {
  const content = fc.dictionary(
    fc.constantFrom('spec', 'status', 'data', 'x'),
    fc.oneof(fc.jsonValue(), fc.record({ config: fc.jsonValue(), minHealthy: fc.jsonValue() })),
  )
  fc.assert(
    fc.property(fc.constantFrom(metallb, check, swap), content, (object, more) => {
      const { verdict } = judged(partOf(object, more))
      return ['allowed', 'corrected', 'denied'].includes(verdict)
    }),
    { numRuns: runs(300) },
  )
})

t.test('the exit code: doubt goes before a fault, and that before none', async (t) => {
  const verdicts = ['allowed', 'corrected', 'denied', 'unknown'] as const
  t.same(
    verdicts.map((verdict) => exitCodeOf([{ verdict: 'allowed' }, { verdict }])),
    [0, 1, 1, 2],
  )
  t.equal(exitCodeOf([]), 0)
  t.equal(exitCodeOf([{ verdict: 'denied' }, { verdict: 'unknown' }]), 2)
})
