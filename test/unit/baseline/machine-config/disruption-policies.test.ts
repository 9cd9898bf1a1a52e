import fc from 'fast-check'
import t from 'tap'

import {
  DEFAULT_POLICIES,
  type DisruptionPolicies,
  disruptionPoliciesOf,
  type Effect,
  lookUpIn,
  strongest,
} from '../../../../src/shared/baseline/machine-config/disruption-policies.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { seed } from '../../engine/merge/schemas.ts'
import { anything, nested } from '../catalog/machine-configs.ts'

const NOTHING: DisruptionPolicies = { files: [], units: [], sshKeys: 'reboot' }

const machineConfiguration = (status: unknown, generation?: number) =>
  ({
    apiVersion: 'operator.openshift.io/v1',
    kind: 'MachineConfiguration',
    metadata: { name: 'cluster', ...(generation !== undefined && { generation }) },
    status,
  }) as unknown as KubeObject

const publishing = (clusterPolicies: unknown) =>
  machineConfiguration({ nodeDisruptionPolicyStatus: { clusterPolicies } })

const actions = (...types: readonly string[]) => types.map((type) => ({ type }))

t.test('where there is no MachineConfiguration, nothing is known of policies', async (t) => {
  t.equal(disruptionPoliciesOf(undefined), undefined)
})

t.test('the policies are those that the operator publishes', async (t) => {
  const published = publishing({
    files: [
      { path: '/etc/a', actions: actions('None') },
      {
        path: '/etc/b',
        actions: [{ type: 'Restart', restart: { serviceName: 'crio.service' } }],
      },
    ],
    units: [{ name: 'a.service', actions: actions('DaemonReload', 'Reload') }],
    sshkey: { actions: actions('None') },
  })
  t.strictSame(disruptionPoliciesOf(published), {
    files: [
      { path: '/etc/a', effect: 'none' },
      { path: '/etc/b', effect: 'reload' },
    ],
    units: [{ name: 'a.service', effect: 'reload' }],
    sshKeys: 'none',
  })
})

const effects: readonly (readonly [actions: unknown, Effect])[] = [
  [actions('None'), 'none'],
  [actions('None', 'None'), 'none'],
  [actions('Reload'), 'reload'],
  [actions('Restart'), 'reload'],
  [actions('DaemonReload'), 'reload'],
  [actions('None', 'Restart'), 'reload'],
  [actions('Drain'), 'reboot'],
  [actions('Drain', 'Reload'), 'reboot'],
  [actions('Reboot'), 'reboot'],
  [actions('Special'), 'reboot'],
  [actions('none'), 'reboot'],
  [actions('Hibernate'), 'reboot'],
  [actions('None', 'Hibernate'), 'reboot'],
  [[], 'reboot'],
  [undefined, 'reboot'],
  ['None', 'reboot'],
  [{ type: 'None' }, 'reboot'],
  [['None'], 'reboot'],
  [[null], 'reboot'],
  [[{ type: ['None'] }], 'reboot'],
]

for (const [given, effect] of effects) {
  t.test(`the actions ${JSON.stringify(given)} are a ${effect}`, async (t) => {
    const published = publishing({
      files: [{ path: '/a', actions: given }],
      units: [{ name: 'a', actions: given }],
      sshkey: { actions: given },
    })
    t.strictSame(disruptionPoliciesOf(published), {
      files: [{ path: '/a', effect }],
      units: [{ name: 'a', effect }],
      sshKeys: effect,
    })
  })
}

t.test('policies that are not yet what the spec says are not in force', async (t) => {
  const published = {
    nodeDisruptionPolicyStatus: { clusterPolicies: { sshkey: { actions: actions('None') } } },
  }
  const at = (generation: number, observedGeneration?: number) =>
    disruptionPoliciesOf(
      machineConfiguration(
        { ...published, ...(observedGeneration && { observedGeneration }) },
        generation,
      ),
    )?.sshKeys
  t.equal(at(2, 2), 'none')
  t.equal(at(3, 2), 'reboot')
  t.equal(at(1), 'reboot')
})

t.test('what cannot be read is no policy', async (t) => {
  for (const status of [undefined, null, 'x', {}, { nodeDisruptionPolicyStatus: [] }]) {
    t.strictSame(disruptionPoliciesOf(machineConfiguration(status)), NOTHING)
  }
  const broken = {
    files: [null, 'x', { path: 7, actions: actions('None') }, { actions: actions('None') }],
    units: [{ name: 7, actions: actions('None') }],
    sshkey: 'None',
  }
  t.strictSame(disruptionPoliciesOf(publishing(broken)), NOTHING)
  const named = { units: { name: 'a', actions: actions('None') } }
  t.strictSame(disruptionPoliciesOf(publishing(named)), NOTHING)
  t.strictSame(disruptionPoliciesOf(publishing(nested(100_000))), NOTHING)
  const property = fc.property(anything, (policies) => {
    t.match(disruptionPoliciesOf(publishing(policies)), { sshKeys: String })
  })
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

const lookup = lookUpIn({
  files: [
    { path: '/etc/nmstate', effect: 'none' },
    { path: '/etc/nmstate/openshift', effect: 'reload' },
    { path: '/etc/nmstate/openshift/a.yaml', effect: 'none' },
    { path: '/opt/./b/../a//', effect: 'none' },
    { path: '/etc/twice', effect: 'none' },
    { path: '/etc/twice', effect: 'reload' },
    { path: '/etc/twice', effect: 'none' },
    { path: '/', effect: 'none' },
    { path: '', effect: 'none' },
  ],
  units: [
    { name: 'a.service', effect: 'reload' },
    { name: '__proto__', effect: 'none' },
  ],
  sshKeys: 'reload',
})

const files: readonly (readonly [path: string, Effect, why: string])[] = [
  ['/etc/nmstate', 'none', 'is named itself'],
  ['/etc/nmstate/x', 'none', 'is in a folder'],
  ['/etc/nmstate/x/y/z', 'none', 'is deep in a folder'],
  ['/etc/nmstate/openshift/x', 'reload', 'is closer to another folder'],
  ['/etc/nmstate/openshift/a.yaml', 'none', 'is named itself within a folder'],
  ['/etc/nmstate/openshift-2/x', 'none', 'is in a folder whose name only begins like another’s'],
  ['/etc/nmstatex', 'reboot', 'only begins like a folder'],
  ['/etc/nmstate/../passwd', 'reboot', 'leads out of the folder'],
  ['/etc//./nmstate/x', 'none', 'leads into the folder'],
  ['/opt/a/x', 'none', 'is in a folder that the policy writes otherwise'],
  ['/opt/a', 'reboot', 'is not spelt as the policy is'],
  ['/etc/twice', 'reload', 'has two policies'],
  ['/etc/passwd', 'reboot', 'has none'],
  ['/x', 'reboot', 'is only in the root'],
  ['', 'none', 'is named, however oddly'],
  ['x', 'reboot', 'is no path'],
]

for (const [path, effect, why] of files) {
  t.test(`${path.slice(0, 40)} is a ${effect}, since it ${why}`, async (t) => {
    t.equal(lookup.ofFile(path), effect)
  })
}

t.test('a unit is known by its name, and keys by nothing', async (t) => {
  t.equal(lookup.ofUnit('a.service'), 'reload')
  t.equal(lookup.ofUnit('b.service'), 'reboot')
  t.equal(lookup.ofUnit('__proto__'), 'none')
  t.equal(lookup.ofUnit('constructor'), 'reboot')
  t.equal(lookup.ofSshKeys, 'reload')
})

t.test('the defaults are those in the documentation of the operator', async (t) => {
  const { ofFile, ofUnit, ofSshKeys } = lookUpIn(DEFAULT_POLICIES)
  t.equal(ofFile('/etc/mco/internal-registry-pull-secret.json'), 'none')
  t.equal(ofFile('/var/lib/kubelet/config.json'), 'none')
  t.equal(ofFile('/etc/machine-config-daemon/no-reboot/containers-gpg.pub'), 'reload')
  t.equal(ofFile('/etc/containers/policy.json'), 'reload')
  t.equal(ofFile('/etc/containers/registries.conf'), 'reboot')
  t.equal(ofUnit('crio.service'), 'reboot')
  t.equal(ofSshKeys, 'none')
})

t.test('of several effects the strongest counts', async (t) => {
  t.equal(strongest([]), 'none')
  t.equal(strongest(['none', 'none']), 'none')
  t.equal(strongest(['none', 'reload']), 'reload')
  t.equal(strongest(['reload', 'reboot', 'none']), 'reboot')
})
