import { readFileSync } from 'node:fs'

import { type Asset, conditionsOf, kindKey } from '../../../src/shared/baseline/catalog/catalog.ts'
import { loadCatalog } from '../../../src/shared/baseline/catalog/load-catalog.ts'
import type { Facts } from '../../../src/shared/baseline/facts/facts.ts'
import { deepFreeze } from '../engine/merge/schemas.ts'

/** Reads a file of the catalog that the product comes with. */
export const readAsset = (name: string) =>
  readFileSync(new URL(`../../../assets/${name}`, import.meta.url), 'utf8')

/** The catalog that the product comes with. */
export const catalog = loadCatalog({
  folders: [{ title: 'catalog.yaml', read: readAsset }],
  namespace: 'autopilot',
})

export const assetNamed = (wanted: string): Asset => {
  const asset = catalog.find(({ name }) => name === wanted)
  if (!asset) throw new Error(`the catalog has no asset ${wanted}`)
  return asset
}

/** Each kind of the catalog and its conditions, in every version that it knows. */
export const everythingServed: Facts['served'] = Object.fromEntries([
  ...catalog
    .flatMap(conditionsOf)
    .flatMap((condition) =>
      condition.type === 'crd' ? [[kindKey(condition), condition.versions ?? []]] : [],
    ),
  ...catalog.map(({ object }) => [kindKey(object), object.versions]),
])

/** A cluster that serves everything, has no special hardware and nothing special about its shape. */
const plain: Facts = {
  hco: { apiVersion: 'hco.kubevirt.io/v1', namespace: 'kubevirt', annotations: {}, spec: {} },
  hardware: {
    pciDevicesPresent: false,
    amd64PciDevicesOnWorkers: false,
    amd64PciDevicesOnMasters: false,
    numaNodesPresent: false,
    gpuPresent: false,
  },
  topology: {
    compact: false,
    singleNode: false,
    schedulableMasters: false,
    hostedControlPlane: false,
    dualReplica: false,
    foreignKubeletConfig: false,
    foreignMasterKubeletConfig: false,
    kubeletDropIns: true,
    masterKubeletDropIns: true,
    foreignSwapManager: false,
    foreignNodeHealthCheck: false,
    foreignMasterNodeHealthCheck: false,
    remediationTemplate: true,
    foreignQuota: false,
    smallPodSubnets: false,
    pressureInformation: true,
    provider: 'baremetal',
    remediationNamespace: 'openshift-workload-availability',
  },
  served: everythingServed,
  enums: { 'operator.openshift.io/KubeDescheduler/spec/profiles': ['LongLifecycle'] },
  fields: {
    'hco.kubevirt.io/HyperConverged/spec/enableApplicationAwareQuota': true,
    'fence-agents-remediation.medik8s.io/FenceAgentsRemediationTemplate/spec/template/spec/sharedSecretName': true,
    'observability.openshift.io/UIPlugin/spec/monitoring/perses': true,
    'observability.openshift.io/UIPlugin/spec/monitoring/incidents': true,
    'observability.openshift.io/UIPlugin/spec/monitoring/clusterHealthAnalyzer': true,
    'operator.openshift.io/KubeDescheduler/spec/evictionLimits/total': true,
    'operator.openshift.io/KubeDescheduler/spec/evictionLimits/node': true,
    'operator.openshift.io/KubeDescheduler/spec/profileCustomizations/devEnableEvictionsInBackground': true,
    'operator.openshift.io/KubeDescheduler/spec/profileCustomizations/devActualUtilizationProfile': true,
  },
  sections: [],
  images: {},
  pools: { worker: 3 },
}

/** What a test says about a cluster; the rest is plain. */
export interface Changes {
  readonly hco?: Partial<Facts['hco']>
  readonly hardware?: Partial<Facts['hardware']>
  readonly topology?: Partial<Facts['topology']>
  readonly served?: Facts['served']
  readonly enums?: Facts['enums']
  readonly fields?: Facts['fields']
  readonly sections?: Facts['sections']
  readonly images?: Facts['images']
  readonly pools?: Facts['pools']
  readonly heirs?: NonNullable<Facts['heirs']>
}

export const factsWith = ({ hco, hardware, topology, ...rest }: Changes = {}): Facts =>
  deepFreeze({
    ...structuredClone(plain),
    ...rest,
    hco: { ...plain.hco, ...hco },
    hardware: { ...plain.hardware, ...hardware },
    topology: { ...plain.topology, ...topology },
  })

/** A cluster on which every asset is active but those that fence nodes, which exclude another. */
export const FULL: Changes = {
  hco: {
    annotations: {
      'enable-aaq': 'true',
      'enable-cpu-manager': 'true',
      'enable-dashboards': 'true',
      'enable-incident-detection': 'true',
      'enable-korrel8r': 'true',
      'enable-ksm-zero-only': 'true',
      'enable-loadaware': 'true',
      'enable-master-swap': 'true',
      'enable-thp-tuning': 'true',
      'enable-node-maintenance': 'true',
      'usb-devices': '046d:0825',
      'vfio-device-ids': '10de:1eb8',
    },
  },
  hardware: {
    pciDevicesPresent: true,
    amd64PciDevicesOnWorkers: true,
    amd64PciDevicesOnMasters: true,
    numaNodesPresent: true,
  },
  topology: { schedulableMasters: true },
  enums: {
    'operator.openshift.io/KubeDescheduler/spec/profiles': ['KubeVirtRelieveAndMigrate'],
  },
}
