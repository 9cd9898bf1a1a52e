import { isMap } from '../../../shared/engine/json/object.ts'
import type { Knowledge, ManagedObject } from '../knowledge.ts'
import type { Write } from '../verdict/judge-annotations.ts'
import { consequence } from './consequence.ts'

/**
 * What to say of an owner that a write gives to an object which nobody may delete: the garbage collector deletes it
 * with its owner, and at once where there is none, and is never refused.
 */
export function ownerNotes(
  { incoming, old }: Write,
  { asset, isAlwaysDenied, status }: ManagedObject,
  { facts }: Knowledge,
): readonly string[] {
  if (!isAlwaysDenied || status.kind !== 'active') return []
  const before = new Set(ownersOf(old?.metadata))
  const added = ownersOf(incoming.metadata).some((uid) => !before.has(uid))
  return added
    ? [
        `it is deleted with its owner, at once if there is no such owner${consequence(asset, facts)}`,
      ]
    : []
}

const ownersOf = (metadata: unknown): readonly unknown[] => {
  const owners = isMap(metadata) && metadata.ownerReferences
  return Array.isArray(owners) ? owners.map((owner) => isMap(owner) && owner.uid) : []
}
