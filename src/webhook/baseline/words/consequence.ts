import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../../shared/baseline/facts/facts.ts'

/** What changing a disruptive asset's object would do, as the tail of a sentence. */
export function consequence(asset: Asset, facts: Facts): string {
  const nodes = rebooted(asset, facts)
  return nodes === undefined ? '' : `; a change would reboot ${nodes}`
}

/** The nodes that a change of an asset's object reboots: how many of which pool; undefined where it reboots none. */
export function rebooted({ disruption, pool }: Asset, { pools }: Facts): string | undefined {
  if (disruption !== 'reboot' || pool === undefined) return undefined
  const count = pools[pool]
  const nodes = count === undefined ? 'the nodes' : count === 1 ? '1 node' : `${count} nodes`
  return `${nodes} of pool ${pool}`
}
