import { createHash } from 'node:crypto'
import t from 'tap'
import { statusOf } from '../../../../src/shared/baseline/asset-status.ts'
import { apiVersionOf } from '../../../../src/shared/baseline/catalog/catalog.ts'
import { waitingSections } from '../../../../src/shared/baseline/catalog/sections.ts'
import { readSettings } from '../../../../src/shared/baseline/settings/settings.ts'
import { isMap, type KubeObject } from '../../../../src/shared/engine/json/object.ts'
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
const hardware = { amd64PciDevicesPresent: true }

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
  const liveMigrationConfig = {
    allowAutoConverge: false,
    allowPostCopy: false,
    completionTimeoutPerGiB: 150,
    progressTimeout: 150,
  }
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
  const hardware = { usbDevicesPresent: true }
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
  t.match(objectOf('hco-golden-config', { ...usb, hardware, served: v1 }).spec, {
    virtualization: { permittedHostDevices },
  })
  t.match(objectOf('hco-golden-config', { ...usb, hardware, served: v1beta1 }).spec, {
    permittedHostDevices,
  })
  const without = JSON.stringify([
    objectOf('hco-golden-config', usb),
    objectOf('hco-golden-config', { hardware }),
  ])
  t.notMatch(without, 'usbHostDevices')
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
  for (const name of ['pci-passthrough', 'pci-passthrough-master']) {
    const facts = { ...FULL, hardware: { ...FULL.hardware, amd64PciDevicesPresent: false } }
    t.match(rendered(name, facts), { kind: 'inactive', reason: 'ConditionFalse' })
    t.match(rendered(name, FULL), { kind: 'active' })
  }
  const arm = { ...FULL, hardware: { ...FULL.hardware, amd64PciDevicesPresent: false } }
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

t.test('the topology manager is set only where there are NUMA nodes', async (t) => {
  const kubelet = (numaNodesPresent: boolean) => {
    const { spec } = objectOf('kubelet-perf-settings', { hardware: { numaNodesPresent } })
    return isMap(spec) && spec.kubeletConfig
  }
  const perf = { nodeStatusMaxImages: -1, maxPods: 500 }
  t.strictSame(kubelet(false), perf)
  t.strictSame(kubelet(true), { ...perf, topologyManagerPolicy: 'best-effort' })
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
