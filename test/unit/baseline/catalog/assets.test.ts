import { createHash } from 'node:crypto'
import t from 'tap'
import { isObsolete, statusOf } from '../../../../src/shared/baseline/asset-status.ts'
import { apiVersionOf } from '../../../../src/shared/baseline/catalog/catalog.ts'
import { waitingSections } from '../../../../src/shared/baseline/catalog/sections.ts'
import { readSettings } from '../../../../src/shared/baseline/settings/settings.ts'
import { isMap, type KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { valueAt } from '../../../../src/shared/engine/json/pointer.ts'
import { assetNamed, type Changes, catalog, everythingServed, FULL, factsWith } from '../facts.ts'
import { crdOf, faultsOf } from './definitions.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const rendered = (name: string, changes: Changes) =>
  statusOf(assetNamed(name), factsWith(changes), readSettings({}).settings, sha256)
const objectOf = (name: string, changes: Changes): KubeObject => {
  const status = rendered(name, changes)
  if (status.kind !== 'active') throw new Error(`${name}: ${JSON.stringify(status)}`)
  return status.baseline
}

t.test('the check refuses what the API server would refuse', async (t) => {
  const object = objectOf('metallb', {})
  t.same(faultsOf({ ...object, spec: { colour: 'red' } }), [
    '/spec must NOT have additional properties {"additionalProperty":"colour"}',
  ])
  t.same(faultsOf({ ...object, spec: { logLevel: 7 } }).slice(0, 1), [
    '/spec/logLevel must be string {"type":"string"}',
  ])
  t.same(faultsOf({ ...object, apiVersion: 'metallb.io/v9' }), ['MetalLB has no version v9'])
})

const defined = catalog.flatMap(({ name, object }) => {
  const crd = crdOf(object.group, object.kind)
  return crd ? [{ name, object, spec: crd.spec }] : []
})

for (const { name, object, spec } of defined) {
  t.test(`${name} yields a kind as its CRD has it`, async (t) => {
    t.equal(spec.names.plural, object.resource)
    t.equal(spec.scope, object.namespace === undefined ? 'Cluster' : 'Namespaced')
    const versions = spec.versions.map((version) => version.name)
    t.same(
      object.versions.filter((version) => !versions.includes(version)),
      [],
    )
  })
}

const HCO = 'hco.kubevirt.io/HyperConverged'
const QUOTA = `${HCO}/spec/enableApplicationAwareQuota`
const v1 = { ...everythingServed, [HCO]: ['v1', 'v1beta1'] }
const v1beta1 = { ...everythingServed, [HCO]: ['v1beta1'] }
const hardware = { amd64PciDevicesOnWorkers: true }

t.test('what has no CRD is of the API server itself', async (t) => {
  const names = defined.map(({ name }) => name)
  t.same(
    catalog.filter(({ name }) => !names.includes(name)).map(({ object }) => object.kind),
    ['ClusterRole', 'Service'],
  )
})

for (const [version, served] of Object.entries({ v1, v1beta1 })) {
  t.test(`each asset is what its CRD admits beside a HyperConverged ${version}`, async (t) => {
    for (const { name } of defined) {
      const status = rendered(name, { ...FULL, served })
      if (status.kind === 'active') t.same(faultsOf(status.baseline), [], name)
      else t.match(name, /^fence-/)
    }
  })
}

t.test('the HyperConverged has its fields where its version has them', async (t) => {
  const liveMigrationConfig = { allowAutoConverge: false, allowPostCopy: false }
  const uninstallStrategy = 'BlockUninstallIfWorkloadsExist'
  t.match(objectOf('hco-golden-config', { served: v1 }), {
    apiVersion: apiVersionOf('hco.kubevirt.io', 'v1'),
    spec: { deployment: { uninstallStrategy }, virtualization: { liveMigrationConfig } },
  })
  t.strictSame(objectOf('hco-golden-config', { served: v1beta1 }).spec, {
    uninstallStrategy,
    liveMigrationConfig,
  })
})

t.test('the quota is the HyperConverged’s own, where its version has it', async (t) => {
  const annotations = { 'enable-aaq': 'true' }
  const specOf = (changes: Changes) =>
    JSON.stringify(objectOf('hco-golden-config', { hco: { annotations }, ...changes }).spec)
  const newer = '"applicationAwareConfig":{"enable":true}'
  const older = '"enableApplicationAwareQuota":true'
  t.match(specOf({ served: v1 }), newer)
  t.match(specOf({ served: v1beta1, fields: { [QUOTA]: true } }), older)
  t.notMatch(specOf({ served: v1beta1, fields: { [QUOTA]: false } }), older)
  t.notMatch(specOf({ served: v1, hco: { annotations: {} } }), newer)

  const beside = { topology: { foreignQuota: true } }
  t.notMatch(specOf(beside), newer, 'another AAQ would make its operator degraded')
  const asked = factsWith({ hco: { annotations }, ...beside })
  t.same(waitingSections(assetNamed('hco-golden-config'), asked), [
    'its section application-aware-quota waits until there is no AAQ but the one of the HyperConverged',
  ])
  const inForce = { sections: ['hco-golden-config/application-aware-quota'] }
  t.match(specOf({ ...beside, ...inForce }), newer, 'once on it is not switched off')
})

t.test('each USB device gets a resource name of its own, in every version', async (t) => {
  const usb = { hco: { annotations: { 'usb-devices': '046d:0825, 1a6e:089a' } } }
  const usbHostDevices = [
    {
      resourceName: 'kubevirt.io/usb-046d-0825',
      selectors: [{ vendor: '046d', product: '0825' }],
    },
    {
      resourceName: 'kubevirt.io/usb-1a6e-089a',
      selectors: [{ vendor: '1a6e', product: '089a' }],
    },
  ]
  const permittedHostDevices = { usbHostDevices }
  t.match(objectOf('hco-golden-config', { ...usb, served: v1 }).spec, {
    virtualization: { permittedHostDevices },
  })
  t.match(objectOf('hco-golden-config', { ...usb, served: v1beta1 }).spec, {
    permittedHostDevices,
  })
  const without = JSON.stringify(objectOf('hco-golden-config', {}))
  t.notMatch(without, 'usbHostDevices')
})

t.test(
  'each PCI device that is left to VMs is permitted, but where the admin has named it',
  async (t) => {
    const annotations = { 'vfio-device-ids': '10de:1eb8, 8086:1572' }
    const ours = [
      { pciDeviceSelector: '10de:1eb8', resourceName: 'kubevirt.io/pci-10de-1eb8' },
      { pciDeviceSelector: '8086:1572', resourceName: 'kubevirt.io/pci-8086-1572' },
    ]
    const [nvidia, intel] = ours
    const theirs = { pciDeviceSelector: '10DE:1EB8', resourceName: 'nvidia.com/TU104GL_Tesla_T4' }
    const permitted = (served: Changes['served'], pciHostDevices?: readonly object[]) => {
      const lists = { permittedHostDevices: { pciHostDevices } }
      const spec = served === v1 ? { virtualization: lists } : lists
      const made = objectOf('hco-golden-config', {
        served: served ?? {},
        hco: { annotations, ...(pciHostDevices && { spec }) },
      }).spec
      const place = served === v1 ? ['virtualization'] : []
      return valueAt(made, [...place, 'permittedHostDevices', 'pciHostDevices'])
    }
    for (const served of [v1, v1beta1]) {
      t.strictSame(permitted(served), ours)
      t.strictSame(permitted(served, ours), ours, 'as it is once it is written')
      t.strictSame(permitted(served, [theirs]), [intel])
      t.strictSame(permitted(served, [theirs, ...ours]), [intel], 'whoever came first')
      t.strictSame(permitted(served, [{ ...nvidia, resourceName: 'a.b/c' }]), [intel])
      t.equal(
        permitted(
          served,
          ours.map((one) => ({ ...one, resourceName: 'a.b/c' })),
        ),
        undefined,
      )
    }
    const hosted = { hco: { annotations }, topology: { hostedControlPlane: true } }
    t.notMatch(JSON.stringify(objectOf('hco-golden-config', hosted)), 'pciHostDevices')
  },
)

t.test('PCI devices that somebody names need no label', async (t) => {
  const states = (text: string) =>
    ['pci-passthrough', 'vfio-assign'].map(
      (name) => rendered(name, { hco: { annotations: { 'vfio-device-ids': text } } }).kind,
    )
  t.strictSame(states('10de:1eb8'), ['active', 'active'])
  t.strictSame(states('false'), ['inactive', 'inactive'])
  t.strictSame(states('10DE:1EB8'), ['inactive', 'failed'], 'a list that is none asks for nothing')
})

t.test('a list of devices that is none holds the HyperConverged as it is', async (t) => {
  const wrong = { hco: { annotations: { 'usb-devices': '046d' } } }
  t.match(rendered('hco-golden-config', wrong), {
    kind: 'failed',
    message: /usb-devices must be a comma separated list .*: "046d" is none/,
  })
})

t.test(
  'the CPU manager needs no CPUs of ours: it takes those that each node reserves',
  async (t) => {
    const on = { hco: { annotations: { 'enable-cpu-manager': 'true' } } }
    const { spec } = objectOf('kubelet-perf-settings', on)
    t.match(spec, {
      autoSizingReserved: true,
      kubeletConfig: { cpuManagerPolicy: 'static', topologyManagerPolicy: 'best-effort' },
    })
    t.notMatch(JSON.stringify(spec), /reservedSystemCPUs|kubeReserved|systemReserved|memoryManager/)
  },
)

t.test('the CPU manager is asked for by an annotation, or a gate where that is kept', async (t) => {
  const gates = { v1: [{ name: 'CPUManager' }], v1beta1: { CPUManager: true } }
  const policyOf = (
    [version, featureGates]: readonly [string, unknown],
    annotation: string | undefined,
  ) => {
    const annotations = annotation === undefined ? {} : { 'enable-cpu-manager': annotation }
    const hco = { apiVersion: `hco.kubevirt.io/${version}`, annotations, spec: { featureGates } }
    return JSON.stringify(objectOf('kubelet-perf-settings', { hco })).includes('cpuManagerPolicy')
  }
  for (const gate of Object.entries(gates)) {
    const [version] = gate
    t.equal(policyOf([version, undefined], undefined), false)
    t.equal(policyOf([version, undefined], 'true'), true)
    t.equal(policyOf(gate, undefined), true)
    t.equal(policyOf(gate, 'false'), false, 'who says no is not asked again')
  }
})

t.test('the pages of the console are those that the installed plug-in offers', async (t) => {
  const at = 'observability.openshift.io/UIPlugin/spec/monitoring'
  const plugin = (offered: readonly string[], isAsked: boolean) => {
    const names = ['perses', 'incidents', 'clusterHealthAnalyzer']
    const fields = Object.fromEntries(
      names.map((name) => [`${at}/${name}`, offered.includes(name)]),
    )
    const annotations = { 'enable-incident-detection': `${isAsked}` }
    return rendered('observability-ui', { fields, hco: { annotations } })
  }
  const shown = (offered: readonly string[], isAsked: boolean) => {
    const status = plugin(offered, isAsked)
    return status.kind === 'active' ? status.baseline.spec : status
  }
  const enabled = { enabled: true }
  const newest = ['perses', 'incidents', 'clusterHealthAnalyzer']
  const spec = (monitoring: object) => ({ type: 'Monitoring', monitoring })
  t.strictSame(shown(newest, false), spec({ perses: enabled }))
  t.strictSame(shown(newest, true), spec({ perses: enabled, clusterHealthAnalyzer: enabled }))
  t.strictSame(shown(['perses', 'incidents'], true), spec({ perses: enabled, incidents: enabled }))
  t.strictSame(shown(['incidents'], true), spec({ incidents: enabled }))
  for (const offered of [[], ['incidents', 'clusterHealthAnalyzer']])
    t.match(plugin(offered, false), { kind: 'inactive', reason: 'NotApplicable' })
  t.match(plugin([], true), { kind: 'inactive', reason: 'NotApplicable' })
})

t.test('nothing reboots for arguments that only amd64 has a use for', async (t) => {
  const arm = { ...FULL, hardware: { pciDevicesPresent: true } }
  const { 'vfio-device-ids': _ids, ...annotations } = FULL.hco?.annotations ?? {}
  const unnamed = { ...arm, hco: { ...FULL.hco, annotations } }
  for (const name of ['pci-passthrough', 'pci-passthrough-master']) {
    t.match(rendered(name, unnamed), { kind: 'inactive', reason: 'ConditionFalse' })
    t.match(rendered(name, arm), { kind: 'active' }, 'devices that somebody names count')
    t.match(rendered(name, FULL), { kind: 'active' })
  }
  t.match(rendered('vfio-assign', arm), { kind: 'active' }, 'a device is passed through anyway')
})

t.test('the standard health check goes only where a fencing one is in force', async (t) => {
  const asked = { hco: { annotations: { 'enable-fence-agents': 'bmc-credentials' } } }
  const secret =
    'fence-agents-remediation.medik8s.io/FenceAgentsRemediationTemplate/spec/template/spec/sharedSecretName'
  t.match(rendered('node-health-standard', asked), {
    kind: 'inactive',
    message: 'gives way to fence-agents-health-check',
  })
  const older = { ...asked, fields: { [secret]: false } }
  t.match(rendered('fence-agents-health-check', older), { kind: 'inactive', isAwaited: true })
  t.match(rendered('node-health-standard', older), { kind: 'active' })
  const typo = { hco: { annotations: { 'enable-fence-agents': 'true' } } }
  t.match(rendered('fence-agents-template', typo), {
    kind: 'failed',
    message: /must be the name of a Secret .*not "true"$/,
  })
  t.match(rendered('node-health-standard', typo), { kind: 'active' })
})

t.test(
  'nodes are watched over where nobody else does, by the template that there is',
  async (t) => {
    const template = { spec: { remediationTemplate: { namespace: 'openshift-operators' } } }
    const elsewhere = { topology: { remediationNamespace: 'openshift-operators' } }
    t.match(objectOf('node-health-standard', elsewhere), template)
    t.match(rendered('node-health-standard', { topology: { remediationTemplate: false } }), {
      kind: 'inactive',
      message: /^waits until there is a SelfNodeRemediationTemplate self-node-.*-template, /,
    })
    const foreign = { topology: { foreignNodeHealthCheck: true } }
    const message = /^waits until no NodeHealthCheck but ours selects the nodes that ours does/
    t.match(rendered('node-health-standard', foreign), { kind: 'inactive', message })
    const asked = { ...foreign, hco: { annotations: { 'enable-fence-agents': 'bmc-credentials' } } }
    t.match(rendered('fence-agents-health-check', asked), { message, isAwaited: true })
    for (const name of ['node-health-standard', 'fence-agents-health-check'])
      t.ok(isObsolete(rendered(name, asked), assetNamed(name)), `${name} does not stay beside it`)
  },
)

t.test('the IOMMU is turned on only in the pool that has a use for it', async (t) => {
  const active = (hardware: Changes['hardware'] = {}) =>
    ['pci-passthrough', 'pci-passthrough-master'].filter(
      (name) =>
        rendered(name, { hardware, topology: { schedulableMasters: true } }).kind === 'active',
    )
  t.same(active({ amd64PciDevicesOnWorkers: true }), ['pci-passthrough'])
  t.same(active({ amd64PciDevicesOnMasters: true }), ['pci-passthrough-master'])
})

t.test('the kubelet gets what has an effect, and no more pods than addresses', async (t) => {
  const kubelet = (changes: Changes) => {
    const { spec } = objectOf('kubelet-perf-settings', changes)
    return isMap(spec) && spec.kubeletConfig
  }
  const perf = { nodeStatusMaxImages: -1, maxPods: 500 }
  t.strictSame(kubelet({}), perf)
  t.strictSame(kubelet({ hardware: { numaNodesPresent: true } }), perf)
  t.strictSame(kubelet({ topology: { smallPodSubnets: true } }), { nodeStatusMaxImages: -1 })
})

t.test('masters swap only where somebody says so, and without targets for I/O', async (t) => {
  const topology = { schedulableMasters: true }
  const { prune } = assetNamed('swap-enable-master')
  const unasked = rendered('swap-enable-master', { topology })
  t.match(unasked, { kind: 'inactive', message: /enable-master-swap=true$/ })
  t.ok(isObsolete(unasked, { prune }), 'what is there already goes')
  const asked = { hco: { annotations: { 'enable-master-swap': 'true' } }, topology }
  const textOf = (name: string) => JSON.stringify(objectOf(name, asked))
  t.match(textOf('swap-enable'), /kubevirt-io-latency-setup.service/)
  t.match(textOf('swap-enable-master'), /swap-disk-enable.service/)
  t.notMatch(textOf('swap-enable-master'), /io-latency/)
})

t.test(
  'what rolls nodes waits on a hosted control plane, and the kubelet on a foreign setting',
  async (t) => {
    const hosted: Changes = { hardware, topology: { hostedControlPlane: true } }
    for (const name of ['swap-enable', 'pci-passthrough', 'kubelet-perf-settings']) {
      t.match(rendered(name, hosted), { kind: 'inactive', reason: 'ConditionFalse' }, name)
    }
    const foreign = rendered('kubelet-perf-settings', { topology: { foreignKubeletConfig: true } })
    t.match(foreign, { kind: 'inactive', reason: 'ConditionFalse' })
  },
)

t.test(
  'a control plane of two that fences itself keeps what OpenShift decided for it',
  async (t) => {
    const topology = { dualReplica: true, schedulableMasters: true }
    const pair: Changes = { ...FULL, topology: { ...FULL.topology, ...topology } }
    const usual: Changes = { ...pair, topology: { ...pair.topology, dualReplica: false } }
    const reserve = (name: string, on: Changes) => objectOf(name, on).spec
    t.match(reserve('kubelet-perf-settings-master', usual), { autoSizingReserved: true })
    t.notOk('autoSizingReserved' in Object(reserve('kubelet-perf-settings-master', pair)))
    t.match(reserve('kubelet-perf-settings', pair), { autoSizingReserved: true })
    for (const name of ['node-health-standard', 'node-health-standard-master']) {
      t.match(rendered(name, usual), { kind: 'active' }, name)
      t.match(rendered(name, pair), { kind: 'inactive', message: /fence each other/ }, name)
    }
    for (const name of ['fence-agents-health-check', 'fence-agents-health-check-master'])
      t.match(rendered(name, pair), { kind: 'inactive', message: /fence each other/ }, name)
  },
)
