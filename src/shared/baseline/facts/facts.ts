/** What templates and conditions may look at. Same facts, same bytes: no counts, no per-node values. */
export interface Facts {
  readonly hco: HcoFacts
  readonly hardware: Readonly<Record<Detector, boolean>>
  readonly topology: Topology
  /** Served versions by `group/Kind`, of the kinds that the catalog names; none for an API that is not there. */
  readonly served: Readonly<Record<string, readonly string[]>>
  /** What the catalog asks of served schemas, see answerKey: the values of an enum, empty where there is none. */
  readonly enums: Readonly<Record<string, readonly string[]>>
  /** Likewise: whether there is such a field. */
  readonly fields: Readonly<Record<string, boolean>>
  /** The sections of assets that are in force, as `asset/section`. */
  readonly sections: readonly string[]
  /** Container images by name, from `RELATED_IMAGE_*`. */
  readonly images: Readonly<Record<string, string>>
  /** Machines by pool. For messages only: no template sees it. */
  readonly pools: Readonly<Record<string, number>>
  /** The other pools that take a pool's configuration, by that pool; likewise. An older leader published none. */
  readonly heirs?: Readonly<Record<string, readonly string[]>>
}

/** The key under which facts have what the schema of a kind says of the field that the pointer leads to. */
export const answerKey = ({ group, kind }: { group: string; kind: string }, pointer: string) =>
  `${group}/${kind}${pointer}`

/** The HyperConverged as facts: annotations under our prefix, without it, and the spec. */
export interface HcoFacts {
  readonly apiVersion: string
  readonly namespace: string
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Readonly<Record<string, unknown>>
}

export const DETECTORS = [
  'pciDevicesPresent',
  'amd64PciDevicesOnWorkers',
  'amd64PciDevicesOnMasters',
  'numaNodesPresent',
  'gpuPresent',
] as const
export type Detector = (typeof DETECTORS)[number]

export const TOPOLOGY_FIELDS = [
  'compact',
  'singleNode',
  'schedulableMasters',
  'hostedControlPlane',
  'foreignKubeletConfig',
  'foreignMasterKubeletConfig',
  'kubeletDropIns',
  'masterKubeletDropIns',
  'foreignSwapManager',
  'foreignNodeHealthCheck',
  'foreignMasterNodeHealthCheck',
  'remediationTemplate',
  'foreignQuota',
  'smallPodSubnets',
  'pressureInformation',
  'dualReplica',
] as const
export type TopologyField = (typeof TOPOLOGY_FIELDS)[number]

/** The shape of the cluster, and on what it runs. */
export interface Topology extends Readonly<Record<TopologyField, boolean>> {
  /** The platform in lower case: `baremetal`, `vsphere`, `none`; empty where nothing says. */
  readonly provider: string
  /** The namespace of the template by which nodes remediate themselves; empty where there is none. */
  readonly remediationNamespace: string
}

/** An API that facts are read from, and the one object that is read of it, where it is not all of them. */
export interface FactSource {
  readonly group: string
  readonly kind: string
  readonly resource: string
  readonly name?: string
}

// The plural of each kind has an s more.
const api = (group: string, kind: string, name?: string): FactSource => ({
  ...{ group, kind, resource: `${kind.toLowerCase()}s` },
  ...(name !== undefined && { name }),
})

const CONFIG = 'config.openshift.io'
const MACHINE_CONFIG = 'machineconfiguration.openshift.io'

/** The APIs that facts are read from; each is followed while the cluster serves it. */
export const FACT_SOURCES = {
  hco: api('hco.kubevirt.io', 'HyperConverged'),
  nodes: api('', 'Node'),
  infrastructure: api(CONFIG, 'Infrastructure', 'cluster'),
  scheduler: api(CONFIG, 'Scheduler', 'cluster'),
  network: api(CONFIG, 'Network', 'cluster'),
  pools: api(MACHINE_CONFIG, 'MachineConfigPool'),
  kubeletConfigs: api(MACHINE_CONFIG, 'KubeletConfig'),
  quotas: api('aaq.kubevirt.io', 'AAQ'),
  machineConfiguration: api('operator.openshift.io', 'MachineConfiguration', 'cluster'),
  // Where the Machine Config Operator has the unit of the kubelet.
  workerKubelet: api(MACHINE_CONFIG, 'MachineConfig', '01-worker-kubelet'),
  masterKubelet: api(MACHINE_CONFIG, 'MachineConfig', '01-master-kubelet'),
  // The HyperConverged's operator has its own in its own namespace, and wasp-agent's docs in another.
  waspAgents: api('apps', 'DaemonSet', 'wasp-agent'),
  nodeHealthChecks: api('remediation.medik8s.io', 'NodeHealthCheck'),
  // The Self Node Remediation operator makes it, in the namespace of its installation.
  remediationTemplates: api(
    'self-node-remediation.medik8s.io',
    'SelfNodeRemediationTemplate',
    'self-node-remediation-automatic-strategy-template',
  ),
}
