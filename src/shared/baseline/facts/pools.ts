import type { KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'
import type { Facts } from './facts.ts'
import { isSelected } from './label-selector.ts'
import { isMaster, ROLE } from './node-roles.ts'
import type { TopologySources } from './topology.ts'

type PoolFacts = Required<Pick<Facts, 'pools' | 'heirs' | 'kubeletHeirs'>>

/** How many machines each MachineConfigPool has, and which pools take the configuration of another beside their own. */
export const poolFacts = ({
  pools,
  nodeLabels,
}: Pick<TopologySources, 'pools' | 'nodeLabels'>): PoolFacts => ({
  pools: countMachines(pools, nodeLabels),
  heirs: heirsAmong(pools, 'MachineConfig'),
  kubeletHeirs: heirsAmong(pools, 'KubeletConfig'),
})

const heirsAmong = (pools: readonly KubeObject[], kind: string): PoolFacts['heirs'] =>
  Object.fromEntries(
    pools.map(nameOf).flatMap((name) => {
      const heirs = poolsReached({ pool: name, object: { kind } }, pools).slice(1)
      return heirs.length > 0 ? [[name, heirs.map(nameOf)]] : []
    }),
  )

/** What configures the nodes of a pool: an asset that is a MachineConfig or a KubeletConfig. */
export interface Configures {
  readonly pool?: string
  readonly object: { readonly kind: string }
}

/** The pools that take what is configured for a pool: itself, then the others by name. */
export function poolsReached(
  { pool = '', object: { kind } }: Configures,
  pools: readonly KubeObject[],
): readonly KubeObject[] {
  const takes = kind === 'KubeletConfig' ? takesKubeletConfig : takesMachineConfig
  const own = pools.filter((one) => nameOf(one) === pool)
  const heirs = pools.filter((one) => nameOf(one) !== pool && takes(one, pool))
  return own.length === 0 ? [] : [...own, ...heirs.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))]
}

// A custom pool selects the MachineConfigs of the workers, too.
const takesMachineConfig = (heir: KubeObject, pool: string) =>
  isSelected(valueAt(heir, ['spec', 'machineConfigSelector']), {
    'machineconfiguration.openshift.io/role': pool,
  })

// What the Machine Config Operator makes of a KubeletConfig for the workers is among these, but it also makes a whole file of
// defaults for each custom pool, which comes after all that is the workers'. Only a KubeletConfig that selects the pool itself wins.
const takesKubeletConfig = ({ metadata: { labels = {} } }: KubeObject, pool: string) =>
  labels[`pools.operator.machineconfiguration.openshift.io/${pool}`] === ''

const nameOf = ({ metadata }: KubeObject) => metadata.name

/** What facts say of pools. */
export type Pools = Pick<Facts, keyof PoolFacts>

/** Where a change of a pool's configuration arrives. */
export interface Reach {
  readonly pool: string
  /** The pool, and those that take its configuration too. */
  readonly pools: readonly string[]
  /** How many nodes all of them have; undefined where that is not known of one. */
  readonly nodes: number | undefined
}

/** Where a change of what configures a pool arrives. */
export function reachOf({ pool = '', object: { kind } }: Configures, facts: Pools): Reach {
  const { pools, heirs, kubeletHeirs } = facts
  const known = kind === 'KubeletConfig' ? kubeletHeirs : heirs
  const reached = [pool, ...(known?.[pool] ?? [])]
  const counts = reached.map((name) => pools[name])
  const isKnown = (count: number | undefined) => count !== undefined
  const nodes = counts.every(isKnown) ? counts.reduce((sum, count) => sum + count, 0) : undefined
  return { pool, pools: reached, nodes }
}

/** That in words: `3 nodes of pool worker`, `7 nodes of pools worker and infra`. */
export function describeReach({ pools, nodes }: Pick<Reach, 'pools' | 'nodes'>): string {
  const who = nodes === undefined ? 'the nodes' : nodes === 1 ? '1 node' : `${nodes} nodes`
  return `${who} of ${namePools(pools)}`
}

/** `pool worker`, `pools worker and infra`. */
export const namePools = (names: readonly string[]) =>
  names.length === 1
    ? `pool ${names[0]}`
    : `pools ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** Machines of each pool: what its status says, else the nodes that its role would select. */
function countMachines(
  pools: readonly KubeObject[],
  nodeLabels: TopologySources['nodeLabels'],
): Facts['pools'] {
  const custom = pools.map(nameOf).filter((name) => name !== 'worker' && name !== 'master')
  return Object.fromEntries(
    pools.map((pool) => {
      const count = machineCount(pool)
      const name = nameOf(pool)
      return [name, count ?? nodeLabels.filter((labels) => poolOf(labels, custom) === name).length]
    }),
  )
}

/** How many machines a pool says that it has. */
export function machineCount(pool: KubeObject): number | undefined {
  const count = valueAt(pool, ['status', 'machineCount'])
  return typeof count === 'number' ? count : undefined
}

// A node is in one pool: that of the masters, else a custom one, else that of the workers.
function poolOf(labels: Readonly<Record<string, string>>, custom: readonly string[]) {
  if (isMaster(labels)) return 'master'
  return [...custom, 'worker'].find((name) => `${ROLE}${name}` in labels)
}
