import type { KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'
import type { Topology } from './facts.ts'
import { readsDropIns } from './kubelet-unit.ts'
import { isSelected } from './label-selector.ts'
import { isMaster } from './node-roles.ts'
import { machineCount, poolsReached } from './pools.ts'
import { foreignHealthChecks, type HealthCheckSources, namespaceOfTemplate } from './remediation.ts'
import { hasForeignSwapManager } from './swap-manager.ts'

/** The objects that the shape of the cluster is read from; a kind that is not served gives none. */
export interface TopologyObjects {
  readonly hco: KubeObject
  readonly infrastructure: KubeObject | undefined
  readonly scheduler: KubeObject | undefined
  readonly network: KubeObject | undefined
  readonly pools: readonly KubeObject[]
  readonly kubeletConfigs: readonly KubeObject[]
  readonly workerKubelet: KubeObject | undefined
  readonly masterKubelet: KubeObject | undefined
  readonly waspAgents: readonly KubeObject[]
  readonly nodeHealthChecks: readonly KubeObject[]
  readonly remediationTemplates: readonly KubeObject[]
  /** The AAQs, of whomever. */
  readonly quotas: readonly KubeObject[]
}

/** These, and what else the shape of the cluster follows from. */
export interface TopologySources extends TopologyObjects, HealthCheckSources {
  /** The names of the KubeletConfigs that the catalog manages. */
  readonly ownKubeletConfigs: readonly string[]
}

/** The cluster's shape. Roles are labels that the Machine Config Operator writes; master is the old name of control-plane. */
export function detectTopology(sources: TopologySources): Topology {
  const { nodeLabels, infrastructure, scheduler } = sources
  const masters = nodeLabels.filter(isMaster)
  const workersOnly = nodeLabels.filter((labels) => !isMaster(labels))
  const remediationNamespace = namespaceOfTemplate(sources.remediationTemplates)
  const statusOf = (field: string) => valueAt(infrastructure, ['status', field])
  return {
    // While a cluster is installed its first node is alone for a while.
    singleNode: isSingle(statusOf('infrastructureTopology')) ?? nodeLabels.length === 1,
    compact: masters.length >= 3 && workersOnly.length === 0,
    schedulableMasters: isSchedulable(scheduler),
    hostedControlPlane: statusOf('controlPlaneTopology') === 'External',
    dualReplica: statusOf('controlPlaneTopology') === 'DualReplica',
    foreignKubeletConfig: hasForeignKubeletConfig(sources, 'worker'),
    foreignMasterKubeletConfig: hasForeignKubeletConfig(sources, 'master'),
    kubeletDropIns: readsDropIns(sources.workerKubelet),
    masterKubeletDropIns: readsDropIns(sources.masterKubelet),
    foreignSwapManager: hasForeignSwapManager(sources.hco, sources.waspAgents),
    ...foreignHealthChecks(sources),
    remediationTemplate: remediationNamespace !== '',
    // The operator of the HyperConverged names the one that it makes after it.
    foreignQuota: sources.quotas.some(
      ({ metadata }) => metadata.name !== `aaq-${sources.hco.metadata.name}`,
    ),
    smallPodSubnets: hasSmallPodSubnets(sources.network),
    pressureInformation: tellsPressure(sources),
    provider: providerOf(infrastructure),
    remediationNamespace,
  }
}

/**
 * Whether some node gets fewer addresses for its pods than the 510 of a /23. A network that says nothing, or whose plug-in does not
 * give each node a subnet, sets no limit; IPv6 has room for any number.
 */
function hasSmallPodSubnets(network: KubeObject | undefined): boolean {
  const entries = valueAt(network, ['status', 'clusterNetwork'])
  return (Array.isArray(entries) ? entries : []).some(
    (entry) =>
      !String(valueAt(entry, ['cidr'])).includes(':') &&
      Number(valueAt(entry, ['hostPrefix'])) > 23,
  )
}

/**
 * Whether all nodes that run VMs tell their pressure: the configuration that all nodes of a pool have reached, which is the one in
 * its status, was made with the MachineConfig that turns it on. A hosted control plane has no pools to tell.
 */
function tellsPressure({ pools, scheduler }: TopologySources): boolean {
  const withVms = isSchedulable(scheduler) ? ['worker', 'master'] : ['worker']
  return withVms.every((pool) => {
    const wanted = `99-openshift-machineconfig-${pool}-psi-karg`
    const isIn = (reached: KubeObject) => {
      const parts = valueAt(reached, ['status', 'configuration', 'source'])
      return Array.isArray(parts) && parts.some((part) => valueAt(part, ['name']) === wanted)
    }
    const [own, ...heirs] = poolsReached(pool, pools)
    return own !== undefined && isIn(own) && heirs.every((one) => isIn(one) || !machineCount(one))
  })
}

const isSchedulable = (scheduler: KubeObject | undefined) =>
  valueAt(scheduler, ['spec', 'mastersSchedulable']) === true

const isSingle = (topology: unknown) =>
  topology === undefined ? undefined : topology === 'SingleReplica'

// The older field is kept for readers that know no other.
function providerOf(infrastructure: KubeObject | undefined): string {
  const type = valueAt(infrastructure, ['status', 'platformStatus', 'type'])
  const provider = type ?? valueAt(infrastructure, ['status', 'platform'])
  return typeof provider === 'string' ? provider.toLowerCase() : ''
}

function hasForeignKubeletConfig(sources: TopologySources, name: string): boolean {
  const pool = sources.pools.find(({ metadata }) => metadata.name === name)
  const labels = pool?.metadata.labels ?? {}
  return sources.kubeletConfigs.some(
    (config) =>
      !sources.ownKubeletConfigs.includes(config.metadata.name) &&
      isSelected(valueAt(config, ['spec', 'machineConfigPoolSelector']), labels),
  )
}
