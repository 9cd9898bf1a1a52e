import type { AssetEntry, TombstoneEntry } from '../catalog/catalog.ts'
import type { TitledEntry } from '../catalog/catalog-text.ts'
import { doubles, wrongNeeds, wrongRivals } from './catalog-rules.ts'
import { contradictions } from './contradictions.ts'
import { orderOfFacts, ownObjects, reservedAnnotations, sectionNames } from './entry-rules.ts'
import { type EntryMistake, linesOf } from './mistakes.ts'

/** The entries of one folder. */
export interface Entries {
  readonly assets: readonly TitledEntry<AssetEntry>[]
  readonly tombstones: readonly TitledEntry<TombstoneEntry>[]
}

/** What is wrong with the entries of all folders together, beside what the schema says: a line per mistake. */
export function lintCatalog(folders: readonly Entries[], namespace: string): readonly string[] {
  const assets = folders.flatMap((folder) => folder.assets)
  const tombstones = folders.flatMap((folder) => folder.tombstones)
  return [
    ...doubles(folders.flatMap((folder) => [...folder.assets, ...folder.tombstones])),
    ...wrongRivals(assets),
    ...wrongNeeds(assets),
    ...assets.flatMap((titled) => linesOf(titled, lintEntry(titled.entry, namespace))),
    ...tombstones.flatMap((titled) => linesOf(titled, ownObjects(titled.entry, namespace))),
  ]
}

const lintEntry = (asset: AssetEntry, namespace: string): readonly EntryMistake[] => [
  ...orderOfFacts(asset),
  ...sectionNames(asset),
  ...reservedAnnotations(asset),
  ...contradictions(asset),
  ...ownObjects(asset, namespace),
]
