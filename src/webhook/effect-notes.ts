import type { HcoFacts } from '../shared/catalog/facts.ts'
import { readSettings, type Settings } from '../shared/catalog/settings.ts'
import { isEqual } from '../shared/engine/equal.ts'
import { correct } from '../shared/engine/merge.ts'
import type { KubeObject } from '../shared/engine/object.ts'
import { plan } from '../shared/engine/plan.ts'
import { consequence } from './consequence.ts'
import { isContent, wantedFor } from './judge.ts'
import type { Write } from './judge-annotations.ts'
import { keepsAny } from './kept-changes.ts'
import type { Knowledge, ManagedObject } from './knowledge.ts'
import { changedAnnotations } from './overrides.ts'

const NAMED = 5

/**
 * What to say of changes that disturb nodes and that a write sets off: no answer to the write itself shows them, since the
 * reconciler makes them afterwards. Nothing for what asks for the same as before.
 */
export function effectNotes(
  write: Write,
  managed: ManagedObject,
  knowledge: Knowledge,
): readonly string[] {
  const { incoming, old } = write
  if (!old) return []
  return managed.isHco
    ? followersOf(incoming, old, knowledge)
    : returnsOf(incoming, old, managed, knowledge)
}

/** What the HyperConverged asks for, and did not before. */
function followersOf(
  incoming: KubeObject,
  old: KubeObject,
  knowledge: Knowledge,
): readonly string[] {
  const [hco, before] = [incoming, old].map(knowledge.hcoFactsOf) as [HcoFacts, HcoFacts]
  if (isEqual(hco, before)) return []
  const { settings } = readSettings(incoming.metadata.annotations ?? {}, knowledge.validSettings)
  if (!keepsAny(settings)) return []
  const isNew = (managed: ManagedObject) => {
    const standing = knowledge.standingWith(managed, hco, settings)
    const known = managed.standing
    return (
      standing.kind === 'active' &&
      standing.digest !== managed.appliedDigest &&
      !(known.kind === 'active' && known.digest === standing.digest)
    )
  }
  return knowledge.all
    .filter(({ asset, isHco }) => asset.disruption === 'reboot' && !isHco)
    .filter(isNew)
    .slice(0, NAMED)
    .map(
      ({ asset }) => `${asset.name} follows from it${effect({ asset, settings }, knowledge.facts)}`,
    )
}

/** What an override does not keep from us any more. */
function returnsOf(
  incoming: KubeObject,
  old: KubeObject,
  managed: ManagedObject,
  knowledge: Knowledge,
): readonly string[] {
  const { asset, standing, tree, isSensitive, isAgreed } = managed
  const { facts, settings } = knowledge
  if (changedAnnotations(incoming, old).size === 0) return []
  if (asset.disruption !== 'reboot' || !isAgreed || !keepsAny(settings)) return []
  if (standing.kind !== 'active' || !tree) return []
  const dueIn = (object: KubeObject) => {
    const decision = plan({ baseline: standing.baseline, tree, object, isSensitive })
    if (decision.kind !== 'enforce') return []
    const desired = wantedFor(object, decision)
    const { drifts } = correct({ tree, incoming: object, old: undefined, desired })
    return drifts.filter(isContent).map(({ pointer }) => pointer)
  }
  const before = new Set(dueIn(old))
  const due = dueIn(incoming).filter((pointer) => !before.has(pointer))
  if (due.length === 0) return []
  const more = due.length > NAMED ? ` and ${due.length - NAMED} more` : ''
  const go = due.length > 1 ? 'go' : 'goes'
  return [
    `${due.slice(0, NAMED).join(', ')}${more} ${go} back to what ${asset.name} says${effect({ asset, settings }, facts)}`,
  ]
}

const WHEN = {
  apply: ', at once',
  hold: ', once it is approved',
  unsaid: ', once approved, or at once under --disruptive-changes=apply',
}

const effect = (
  { asset, settings }: Pick<ManagedObject, 'asset'> & { readonly settings: Settings },
  facts: Knowledge['facts'],
) => `${consequence(asset, facts)}${WHEN[settings.disruptiveChanges ?? 'unsaid']}`
