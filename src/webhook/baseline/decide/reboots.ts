import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Facts, HcoFacts } from '../../../shared/baseline/facts/facts.ts'
import { specReadBy } from '../../../shared/baseline/facts/hco-facts.ts'
import { describeReach, reachOf } from '../../../shared/baseline/facts/pools.ts'
import type { Settings } from '../../../shared/baseline/settings/settings.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { correct } from '../../../shared/engine/merge/merge.ts'
import type { Plan } from '../../../shared/engine/plan.ts'
import type { ManagedObject, Snapshot } from '../snapshot.ts'
import type { Gathered } from './gathered.ts'
import { isContent, wantedFor } from './judge-content.ts'
import { keepsAny } from './selection-changes.ts'

/** Nodes that may reboot because of a write: that they already are as the change wants them nobody knows here. */
export interface Reboot {
  /** How many nodes of which pools. */
  readonly nodes: string
  /** Whether they wait for an approval, as the settings in force with the write say, or else the leader. */
  readonly disruptiveChanges: Settings['disruptiveChanges']
  /** The assets that are changed. */
  readonly assets: readonly string[]
  /** What of the one asset's object is put back; undefined where its baseline changes. */
  readonly putBack?: readonly string[]
}

/**
 * The reboots that a write sets off and its own answer does not show, since it is the reconciler who makes the
 * change. None for a write that asks for the same as before.
 */
export function rebootsBy(gathered: Gathered, stored: KubeObject): readonly Reboot[] {
  const { write, managed, snapshot } = gathered
  if (stored.metadata.deletionTimestamp) return []
  if (managed.isHco) return rebootsByHco(stored, write.old, snapshot)
  return write.old ? rebootsByOverrides(stored, write.old, gathered) : []
}

/** The nodes that a change of an asset's object reboots: how many of which pools; undefined where it reboots none. */
export function nodesRebooted({ disruption, pool }: Asset, facts: Facts): string | undefined {
  if (disruption !== 'reboot' || pool === undefined) return undefined
  return describeReach(reachOf(pool, facts))
}

/** What a HyperConverged asks for. */
interface Demand {
  readonly hco: HcoFacts
  readonly settings: Settings
}

/** What is to be changed because of the HyperConverged as it is in this write, and was not before: one for each pool. */
function rebootsByHco(
  stored: KubeObject,
  old: KubeObject | undefined,
  snapshot: Snapshot,
): readonly Reboot[] {
  const [hco, hcoBefore] = [snapshot.hcoFactsOf(stored), old && snapshot.hcoFactsOf(old)]
  if (isEqual(hco, hcoBefore)) return []
  const settingsOf = ({ metadata: { annotations = {} } }: KubeObject) =>
    snapshot.readSettings(annotations).settings
  const after: Demand = { hco, settings: settingsOf(stored) }
  const before = old && hcoBefore && { hco: hcoBefore, settings: settingsOf(old) }
  const modeOf = ({ settings }: Demand) => settings.disruptiveChanges ?? snapshot.disruptiveChanges
  const disruptiveChanges = modeOf(after)
  const isLoosened =
    disruptiveChanges !== 'hold' && disruptiveChanges !== (before && modeOf(before))
  // To render takes its time: what reads nothing that changes stays as it is.
  const isAnnotated = !isEqual(hco.annotations, hcoBefore?.annotations)
  const isConcerned = ({ asset }: ManagedObject) =>
    isAnnotated || !isEqual(specReadBy(asset, hco), hcoBefore && specReadBy(asset, hcoBefore))
  const isNew = (managed: ManagedObject) => {
    const due = dueBy(after, managed, snapshot)
    if (due === undefined) return false
    return isLoosened || due !== (before && dueBy(before, managed, snapshot))
  }
  const news = snapshot.all.flatMap((managed) => {
    const nodes = nodesRebooted(managed.asset, snapshot.facts)
    const isNews = nodes !== undefined && isConcerned(managed) && isNew(managed)
    return isNews ? [{ nodes, asset: managed.asset.name }] : []
  })
  return [...Map.groupBy(news, ({ nodes }) => nodes)].map(([nodes, all]) => {
    return { nodes, disruptiveChanges, assets: all.map(({ asset }) => asset) }
  })
}

/** The digest of what an asset is to become; undefined where it is that, or is not kept. */
function dueBy(
  { hco, settings }: Demand,
  managed: ManagedObject,
  snapshot: Snapshot,
): string | undefined {
  if (!keepsAny(settings)) return undefined
  const status = snapshot.statusWith(managed, hco, settings)
  const isDue = status.kind === 'active' && status.digest !== managed.appliedDigest
  return isDue ? status.digest : undefined
}

/** What an override does not keep from us any more. */
function rebootsByOverrides(
  stored: KubeObject,
  old: KubeObject,
  { managed: { asset, tree }, snapshot, changed, before, after }: Gathered,
): readonly Reboot[] {
  const nodes = nodesRebooted(asset, snapshot.facts)
  if (nodes === undefined || changed.size === 0 || !tree) return []
  const dueIn = (object: KubeObject, planned: Plan | undefined) => {
    if (planned?.kind !== 'enforce') return []
    const desired = wantedFor(object, planned)
    const { drifts } = correct({ tree, incoming: object, old: undefined, desired })
    return drifts.filter(isContent).map(({ pointer }) => pointer)
  }
  const known = new Set(dueIn(old, before))
  const putBack = dueIn(stored, after).filter((pointer) => !known.has(pointer))
  const { disruptiveChanges = snapshot.disruptiveChanges } = snapshot.settings
  return putBack.length > 0 ? [{ nodes, disruptiveChanges, assets: [asset.name], putBack }] : []
}
