import type { AssetEntry, ObjectIdentity } from '../catalog/catalog.ts'
import type { TitledEntry } from '../catalog/catalog-text.ts'
import type { Condition } from '../facts/conditions.ts'
import { isExclusive, ownKind } from './contradictions.ts'

interface Named {
  readonly name: string
  readonly object: ObjectIdentity
}

/** Entries that have a name or an object that an earlier one has. */
export const doubles = (entries: readonly TitledEntry<Named>[]): readonly string[] =>
  entries.flatMap(({ entry, title }, index) => {
    const earlier = entries.slice(0, index)
    const namesake = earlier.some((other) => other.entry.name === entry.name)
    const rival = earlier.find((other) => isSameObject(other.entry.object, entry.object))
    return [
      ...(namesake ? [`${title} is not the first of this name: choose another`] : []),
      ...(rival
        ? [
            `${title} is about the same object as ${rival.entry.name}, which comes before it: take one of them away`,
          ]
        : []),
    ]
  })

// The HyperConverged's namespace may be any: what is kept there and deleted elsewhere could be one object.
const isSameObject = (a: ObjectIdentity, b: ObjectIdentity) =>
  a.group === b.group &&
  a.kind === b.kind &&
  a.name === b.name &&
  (a.namespace === b.namespace ||
    ([a.namespace, b.namespace].includes('$hco') &&
      a.namespace !== undefined &&
      b.namespace !== undefined))

/** Assets that yield to what is no asset, to one that yields itself, or to one that is always there when they would be. */
export function wrongRivals(entries: readonly TitledEntry<AssetEntry>[]): readonly string[] {
  const named = new Map(entries.map(({ entry }) => [entry.name, entry]))
  return entries.flatMap(({ entry, title }) => {
    const { yieldsTo } = entry
    if (yieldsTo === undefined) return []
    const rival = named.get(yieldsTo)
    if (!rival) return [`${title} yields to ${yieldsTo}, which is no asset`]
    // Two that yield to each other would both wait for ever, or ask each other without end.
    if (rival.yieldsTo !== undefined)
      return [`${title} yields to ${yieldsTo}, which yields to another itself`]
    return isImplied(rival, entry)
      ? [
          `${title} yields to ${yieldsTo}, which is active wherever this one could be: give ${yieldsTo} a condition that ${entry.name} has not, or take ${entry.name} away`,
        ]
      : []
  })
}

/** Assets that need what is no asset, or one that needs another itself: who needs whom could then go round in a circle. */
export function wrongNeeds(entries: readonly TitledEntry<AssetEntry>[]): readonly string[] {
  const named = new Map(entries.map(({ entry }) => [entry.name, entry]))
  return entries.flatMap(({ entry: { needs }, title }) => {
    if (needs === undefined) return []
    const needed = named.get(needs)
    if (!needed) return [`${title} needs ${needs}, which is no asset`]
    return needed.needs === undefined && needed.yieldsTo === undefined
      ? []
      : [`${title} needs ${needs}, which needs another itself, or yields to one: name that`]
  })
}

/** Whether all that the rival needs holds wherever the conditions of the asset do. */
function isImplied(rival: AssetEntry, asset: AssetEntry): boolean {
  const given = needsOf(asset)
  return needsOf(rival).every((need) => given.some((one) => isExclusive(one, opposite(need))))
}

const needsOf = (asset: AssetEntry): readonly Condition[] => [
  ownKind(asset).condition,
  ...asset.conditions,
]

const opposite = (condition: Condition): Condition => ({ ...condition, not: !condition.not })
