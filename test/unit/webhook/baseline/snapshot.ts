import t from 'tap'
import { DISABLED_RESOURCES } from '../../../../src/shared/baseline/annotations.ts'
import { createStatusDecider } from '../../../../src/shared/baseline/asset-status.ts'
import { sha256 } from '../../../../src/shared/ops/digest.ts'
import { createSnapshot, queriesOf } from '../../../../src/webhook/baseline/snapshot.ts'
import { catalog, factsWith } from '../../baseline/facts.ts'
import { facts, managedBy, schemas, snapshot, snapshotOf } from '../known.ts'

const state = {
  facts,
  hardware: {},
  settings: {},
  neverValid: [],
  baselines: {},
  applied: {},
} as unknown as Parameters<typeof queriesOf>[1]

t.test('asks for the schema of each kind that is served, in its newest version', async (t) => {
  const kinds = queriesOf(catalog, state).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
  t.equal(kinds.length, catalog.length)
  for (const kind of [
    'hco.kubevirt.io/v1beta1 HyperConverged',
    'machineconfiguration.openshift.io/v1 KubeletConfig',
    'v1 Service',
  ]) {
    t.ok(kinds.includes(kind), kind)
  }
  const served = { 'metallb.io/MetalLB': ['v1beta1', 'v1alpha1'] }
  t.match(queriesOf(catalog, { ...state, facts: factsWith({ served }) }), [{ kind: 'MetalLB' }])
  t.strictSame(queriesOf(catalog, { ...state, facts: factsWith({ served: {} }) }), [])
})

t.test('finds an object by group, kind, namespace and name', async (t) => {
  const finds: [
    group: string,
    kind: string,
    namespace: string | undefined,
    name: string,
    asset?: string,
  ][] = [
    [
      'hco.kubevirt.io',
      'HyperConverged',
      'openshift-cnv',
      'kubevirt-hyperconverged',
      'hco-golden-config',
    ],
    ['hco.kubevirt.io', 'HyperConverged', 'kubevirt', 'kubevirt-hyperconverged'],
    ['hco.kubevirt.io', 'HyperConverged', undefined, 'kubevirt-hyperconverged'],
    ['', 'HyperConverged', 'openshift-cnv', 'kubevirt-hyperconverged'],
    [
      'machineconfiguration.openshift.io',
      'MachineConfig',
      undefined,
      '90-worker-swap-online',
      'swap-enable',
    ],
    [
      'machineconfiguration.openshift.io',
      'MachineConfig',
      '',
      '90-worker-swap-online',
      'swap-enable',
    ],
    ['machineconfiguration.openshift.io', 'MachineConfig', undefined, '__proto__'],
    ['metallb.io', 'MetalLB', 'metallb-system', 'metallb', 'metallb'],
  ]
  for (const [group, kind, namespace, name, asset] of finds) {
    t.equal(snapshot.find(group, kind, namespace, name)?.asset.name, asset)
  }
})

t.test('knows what may not be corrected, and what the leader agrees on', async (t) => {
  t.match(managedBy('hco-golden-config'), {
    isHco: true,
    isSensitive: false,
    isAlwaysDenied: false,
    isAgreed: true,
  })
  t.match(managedBy('kubelet-perf-settings'), {
    isHco: false,
    isSensitive: true,
    isAlwaysDenied: true,
    isAgreed: true,
  })
  t.match(managedBy('pci-passthrough'), { status: { reason: 'ConditionFalse' }, isAgreed: false })
  const excluding = snapshotOf({ settings: { [DISABLED_RESOURCES]: '["metallb"]' } })
  t.match(managedBy('metallb', excluding), { status: { reason: 'Excluded' }, isAgreed: false })
  const unagreed = createSnapshot(catalog, state, schemas, createStatusDecider(catalog, sha256))
  t.notOk(unagreed.all.some(({ isAgreed }) => isAgreed))
  t.notOk(managedBy('swap-enable', unagreed).appliedDigest)
})

t.test('knows no schema of a kind that is not served', async (t) => {
  const known = createSnapshot(
    catalog,
    { ...state, facts: factsWith({ served: {} }) },
    schemas,
    createStatusDecider(catalog, sha256),
  )
  t.notOk(known.all.some(({ tree }) => tree))
})

t.test('what an older leader has not found out yet is let pass, and nothing else', async (t) => {
  const SHAPE = ['compact', 'singleNode', 'schedulableMasters', 'hostedControlPlane']
  const OLDER = [...SHAPE, 'foreignKubeletConfig', 'foreignMasterKubeletConfig', 'provider']
  const known = Object.entries(facts.topology).filter(([field]) => OLDER.includes(field))
  const older = { ...facts, topology: Object.fromEntries(known) } as unknown as typeof facts
  const found = snapshotOf({ facts: older })
  // The HyperConverged is asked for a quota here, which depends on such a fact, too.
  for (const asset of ['swap-enable', 'node-health-standard', 'hco-golden-config']) {
    t.match(managedBy(asset, found).status, { kind: 'failed', message: /^the fact .* not known$/ })
    t.notOk(managedBy(asset, found).isAgreed)
  }
  // Its template reads such a fact.
  t.match(managedBy('kubelet-perf-settings', found), {
    status: { kind: 'failed' },
    isAgreed: false,
  })
  t.ok(managedBy('metallb', found).isAgreed)
})
