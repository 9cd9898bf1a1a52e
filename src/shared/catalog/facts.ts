/** What templates and conditions may look at. Same facts, same bytes: no counts, no per-node values. */
export interface Facts {
  readonly hco: HcoFacts
  readonly hardware: Readonly<Record<Detector, boolean>>
  readonly topology: Readonly<Record<TopologyField, boolean>>
  /** Served versions by `group/Kind`, of the kinds that the catalog names; none for an API that is not there. */
  readonly served: Readonly<Record<string, readonly string[]>>
  /** For each asset that asks, the enums of its served schema by the asset's own name for them. */
  readonly enums: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  /** Container images by name, from `RELATED_IMAGE_*`. */
  readonly images: Readonly<Record<string, string>>
  /** Machines by pool. For messages only: no template sees it. */
  readonly pools: Readonly<Record<string, number>>
}

/** The HyperConverged as facts: annotations under our prefix, without it, and the spec. */
export interface HcoFacts {
  readonly apiVersion: string
  readonly namespace: string
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Readonly<Record<string, unknown>>
}

export const DETECTORS = [
  'pciDevicesPresent',
  'numaNodesPresent',
  'gpuPresent',
  'vfioCapable',
  'usbDevicesPresent',
  'amdNodesPresent',
] as const
export type Detector = (typeof DETECTORS)[number]

export const TOPOLOGY_FIELDS = [
  'compact',
  'singleNode',
  'schedulableMasters',
  'hostedControlPlane',
  'foreignKubeletConfig',
] as const
export type TopologyField = (typeof TOPOLOGY_FIELDS)[number]

/** The APIs that facts are read from; each is followed while the cluster serves it. */
export const FACT_SOURCES = {
  hco: { group: 'hco.kubevirt.io', kind: 'HyperConverged', resource: 'hyperconvergeds' },
  nodes: { group: '', kind: 'Node', resource: 'nodes' },
  infrastructure: {
    group: 'config.openshift.io',
    kind: 'Infrastructure',
    resource: 'infrastructures',
    name: 'cluster',
  },
  scheduler: {
    group: 'config.openshift.io',
    kind: 'Scheduler',
    resource: 'schedulers',
    name: 'cluster',
  },
  pools: {
    group: 'machineconfiguration.openshift.io',
    kind: 'MachineConfigPool',
    resource: 'machineconfigpools',
  },
  kubeletConfigs: {
    group: 'machineconfiguration.openshift.io',
    kind: 'KubeletConfig',
    resource: 'kubeletconfigs',
  },
} as const
