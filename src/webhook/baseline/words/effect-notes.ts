import type { HcoFacts } from '../../../shared/baseline/facts/facts.ts'
import { specReadBy } from '../../../shared/baseline/facts/hco-facts.ts'
import { plan } from '../../../shared/baseline/planner.ts'
import type { Settings } from '../../../shared/baseline/settings/settings.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { correct } from '../../../shared/engine/merge/merge.ts'
import type { Knowledge, ManagedObject } from '../knowledge.ts'
import type { Write } from '../verdict/judge-annotations.ts'
import { isContent, wantedFor } from '../verdict/judge-content.ts'
import { keepsAny } from '../verdict/kept-changes.ts'
import { changedAnnotations } from '../verdict/overrides.ts'
import { rebooted } from './consequence.ts'

/**
 * What to say of reboots that a write sets off and its own answer does not show, since it is the reconciler who makes the
 * change. That nodes already are as the change wants them nobody knows here, so they only may reboot. Nothing for a
 * write that asks for the same as before.
 */
export function effectNotes(
  { incoming, old }: Write,
  managed: ManagedObject,
  knowledge: Knowledge,
): readonly string[] {
  if (incoming.metadata.deletionTimestamp) return []
  if (managed.isHco) return followersOf(incoming, old, knowledge)
  return old ? returnsOf(incoming, old, managed, knowledge) : []
}

/** What is to be changed because of the HyperConverged as it is in this write, and was not before: a note for each pool. */
function followersOf(
  incoming: KubeObject,
  old: KubeObject | undefined,
  knowledge: Knowledge,
): readonly string[] {
  const [hco, hcoBefore] = [knowledge.hcoFactsOf(incoming), old && knowledge.hcoFactsOf(old)]
  if (isEqual(hco, hcoBefore)) return []
  const settingsOf = ({ metadata: { annotations = {} } }: KubeObject) =>
    knowledge.readSettings(annotations).settings
  const after: Wish = { hco, settings: settingsOf(incoming) }
  const before = old && hcoBefore && { hco: hcoBefore, settings: settingsOf(old) }
  const [now, then] = [after.settings, before?.settings].map((one) => one?.disruptiveChanges)
  const isLoosened = now !== 'hold' && now !== then
  // To render takes its time: what reads nothing that changes stays as it is.
  const isAnnotated = !isEqual(hco.annotations, hcoBefore?.annotations)
  const isConcerned = ({ asset }: ManagedObject) =>
    isAnnotated || !isEqual(specReadBy(asset, hco), hcoBefore && specReadBy(asset, hcoBefore))
  const isNew = (managed: ManagedObject) => {
    const due = dueBy(after, managed, knowledge)
    if (due === undefined) return false
    return isLoosened || due !== (before && dueBy(before, managed, knowledge))
  }
  const news = knowledge.all.filter(
    (managed) =>
      rebooted(managed.asset, knowledge.facts) !== undefined &&
      isConcerned(managed) &&
      isNew(managed),
  )
  return [...Map.groupBy(news, ({ asset }) => rebooted(asset, knowledge.facts))].map(
    ([nodes, all]) =>
      `${nodes} may reboot for this${when(after.settings)}: ${all.map(({ asset }) => asset.name).join(', ')}`,
  )
}

/** What a HyperConverged asks for. */
interface Wish {
  readonly hco: HcoFacts
  readonly settings: Settings
}

/** The digest of what an asset is to become; undefined where it is that, or is not kept. */
function dueBy(
  { hco, settings }: Wish,
  managed: ManagedObject,
  knowledge: Knowledge,
): string | undefined {
  if (!keepsAny(settings)) return undefined
  const status = knowledge.statusWith(managed, hco, settings)
  const isDue = status.kind === 'active' && status.digest !== managed.appliedDigest
  return isDue ? status.digest : undefined
}

/** What an override does not keep from us any more. */
function returnsOf(
  incoming: KubeObject,
  old: KubeObject,
  { asset, status, tree, isSensitive }: ManagedObject,
  { facts, settings }: Knowledge,
): readonly string[] {
  const nodes = rebooted(asset, facts)
  if (nodes === undefined || changedAnnotations(incoming, old).size === 0) return []
  if (status.kind !== 'active' || !tree) return []
  const dueIn = (object: KubeObject) => {
    const decision = plan({ baseline: status.baseline, tree, object, isSensitive })
    if (decision.kind !== 'enforce') return []
    const desired = wantedFor(object, decision)
    const { drifts } = correct({ tree, incoming: object, old: undefined, desired })
    return drifts.filter(isContent).map(({ pointer }) => pointer)
  }
  const before = new Set(dueIn(old))
  const due = dueIn(incoming).filter((pointer) => !before.has(pointer))
  if (due.length === 0) return []
  return [
    `${nodes} may reboot for this${when(settings)}: ${asset.name} puts ${due.join(', ')} back`,
  ]
}

const WHEN = {
  apply: '',
  hold: ', once approved',
  unsaid: ', once approved, or at once where the reconciler runs with --disruptive-changes=apply',
}

const when = ({ disruptiveChanges }: Settings) => WHEN[disruptiveChanges ?? 'unsaid']
