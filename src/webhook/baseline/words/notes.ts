import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../../shared/baseline/facts/facts.ts'
import { nodesRebooted, type Reboot } from '../decide/reboots.ts'
import type { Told } from '../decide/verdict.ts'

/** What to say of what comes of a write that is stored, a sentence each. */
export const effectNotes = (
  { isOwned, reboots = [], quotas }: Told,
  asset: Asset,
  facts: Facts,
): readonly string[] => {
  const gone = 'it is deleted with its owner, at once if there is no such owner'
  return [
    ...(isOwned ? [`${gone}${consequence(asset, facts)}`] : []),
    ...reboots.map(rebootNote),
    ...(quotas ? [QUOTAS_GO] : []),
  ]
}

const QUOTAS_GO =
  'its operator deletes its AAQ for this, and every quota with it: each ApplicationAwareResourceQuota and ApplicationAwareClusterResourceQuota'

/** What changing a disruptive asset's object would do, as the tail of a sentence. */
export function consequence(asset: Asset, facts: Facts): string {
  const nodes = nodesRebooted(asset, facts)
  return nodes === undefined ? '' : `; a change would reboot ${nodes}`
}

function rebootNote({ nodes, disruptiveChanges, assets, putBack }: Reboot): string {
  const names = assets.join(', ')
  const what = putBack ? `${names} puts ${putBack.join(', ')} back` : names
  if (disruptiveChanges === 'apply') return `this reboots ${nodes} now: ${what}`
  if (disruptiveChanges === 'hold')
    return `what reboots ${nodes} for this waits for approval: ${what}`
  return `${nodes} may reboot for this, ${UNSAID}: ${what}`
}

// A leader of an earlier version does not publish its flag.
const UNSAID = 'once approved, or at once where the reconciler runs with --disruptive-changes=apply'
