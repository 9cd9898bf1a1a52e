import type { Asset } from '../shared/catalog/catalog.ts'
import type { Facts } from '../shared/catalog/facts.ts'

/** What changing a disruptive asset's object would do, as the tail of a sentence. */
export function consequence({ disruption, pool }: Asset, { pools }: Facts): string {
  if (disruption !== 'reboot' || pool === undefined) return ''
  const count = pools[pool]
  const nodes = count === undefined ? 'the nodes' : count === 1 ? '1 node' : `${count} nodes`
  return `; a change would reboot ${nodes} of pool ${pool}`
}
