import type { KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'
import type { Facts } from './facts.ts'
import { isSelected } from './label-selector.ts'
import { isMaster, ROLE } from './node-roles.ts'
import type { TopologySources } from './topology.ts'

type PoolFacts = Required<Pick<Facts, 'pools' | 'heirs'>>

/** How many machines each MachineConfigPool has, and which pools take the configuration of another beside their own. */
export const poolFacts = ({
  pools,
  nodeLabels,
}: Pick<TopologySources, 'pools' | 'nodeLabels'>): PoolFacts => ({
  pools: countMachines(pools, nodeLabels),
  heirs: Object.fromEntries(
    pools.flatMap(({ metadata: { name } }) => {
      const heirs = poolsReached(name, pools).slice(1).map(nameOf)
      return heirs.length > 0 ? [[name, heirs]] : []
    }),
  ),
})

/**
 * The pools that take what is configured for the pool of this name: itself, then the others by name. Custom pools select the
 * MachineConfigs of the workers too, and with them what the Machine Config Operator generates of a KubeletConfig. Of that only the
 * reserve by a node's size is in force there, since files of their own come after it; but it reboots them.
 */
export function poolsReached(name: string, pools: readonly KubeObject[]): readonly KubeObject[] {
  const labels = { 'machineconfiguration.openshift.io/role': name }
  const own = pools.filter(({ metadata }) => metadata.name === name)
  const heirs = pools.filter(
    (pool) =>
      pool.metadata.name !== name &&
      isSelected(valueAt(pool, ['spec', 'machineConfigSelector']), labels),
  )
  return own.length === 0 ? [] : [...own, ...heirs.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))]
}

const nameOf = ({ metadata }: KubeObject) => metadata.name

/** Where a change of a pool's configuration arrives. */
export interface Reach {
  readonly pool: string
  /** The pool, and those that take its configuration too. */
  readonly pools: readonly string[]
  /** How many nodes all of them have; undefined where that is not known of one. */
  readonly nodes: number | undefined
}

/** Where a change of this pool's configuration arrives. */
export function reachOf(pool: string, { pools, heirs }: Pick<Facts, 'pools' | 'heirs'>): Reach {
  const reached = [pool, ...(heirs?.[pool] ?? [])]
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
