import { compileTemplate } from '../../engine/render.ts'
import { err, ok, type Result } from '../../engine/result.ts'
import { entryMistakes } from '../check/check-entries.ts'
import { templateMistakes } from '../check/check-template.ts'
import type { Asset, Catalog } from './catalog.ts'
import { CatalogError } from './catalog-error.ts'
import type { AssetEntry, ObjectIdentity, TombstoneEntry } from './catalog-schema.ts'
import { type Entries, parseCatalog, type TitledEntry } from './catalog-text.ts'
import { grantedBy } from './grants.ts'

/** A folder with a catalog.yaml, its templates and files. */
export interface CatalogFolder {
  /** What mistakes call its catalog.yaml; its templates are called by their names beside that. */
  readonly title: string
  /** Reads a file of the folder as text; throws when there is none. */
  readonly read: (name: string) => string
  /** Renders each template for made-up clusters to find mistakes; not for a folder that was checked when it was built. */
  readonly isChecked?: boolean
}

export interface CatalogSources {
  /** The product's own folder, then an admin's. */
  readonly folders: readonly CatalogFolder[]
  /** The namespace of the product itself, for which `$autopilot` stands. */
  readonly namespace: string
}

/** Reads, checks and compiles the whole catalog, in order of reconciling; throws a CatalogError that has every mistake. */
export function loadCatalog({ folders, namespace }: CatalogSources): Catalog {
  const contents = valuesOf(folders.map((folder) => readFolder(folder, namespace)))
  const entries = contents.flatMap(({ assets }) => assets.map(({ entry }) => entry))
  const assets = valuesOf(
    contents.flatMap((found) => found.assets.map((asset) => compile(asset, found, namespace))),
    entryMistakes(contents, namespace),
  )
  const named = (wanted: string | undefined) => assets.find(({ name }) => name === wanted)
  const related = assets.map((asset, index): Asset => {
    const [rival, needed] = [named(entries[index]?.yieldsTo), named(entries[index]?.needs)]
    return { ...asset, ...(rival && { yieldsTo: rival }), ...(needed && { needs: needed }) }
  })
  const tombstones = contents.flatMap((content) => content.tombstones)
  return [...related, ...tombstones.map(({ entry }) => buried(entry))].sort(
    (a, b) => a.order - b.order || (a.name < b.name ? -1 : 1),
  )
}

/** The values of all results; throws a CatalogError where there is any mistake. */
function valuesOf<T>(
  results: readonly Result<T, readonly string[]>[],
  others: readonly string[] = [],
): readonly T[] {
  const mistakes = [...others, ...results.flatMap((result) => (result.ok ? [] : result.error))]
  if (mistakes.length > 0) throw new CatalogError(mistakes)
  return results.flatMap((result) => (result.ok ? [result.value] : []))
}

interface Contents extends Entries {
  readonly folder: CatalogFolder
}

function readFolder(folder: CatalogFolder, namespace: string): Result<Contents, readonly string[]> {
  try {
    const parsed = parseCatalog(folder.title, folder.read('catalog.yaml'))
    if (!parsed.ok) return parsed
    const { assets, tombstones } = parsed.value
    return ok({
      assets: assets.map((found) => ({ ...found, entry: placed(found.entry, namespace) })),
      tombstones: tombstones.map((found) => ({ ...found, entry: placed(found.entry, namespace) })),
      folder,
    })
  } catch (error) {
    return err([`${folder.title}: ${(error as Error).message}`])
  }
}

const placed = <Entry extends { readonly object: ObjectIdentity }>(
  entry: Entry,
  namespace: string,
): Entry =>
  entry.object.namespace === '$autopilot'
    ? { ...entry, object: { ...entry.object, namespace } }
    : entry

function compile(
  { entry, title }: TitledEntry<AssetEntry>,
  { folder }: Contents,
  namespace: string,
): Result<Asset, readonly string[]> {
  try {
    const files = new Map(entry.files.map((name) => [name, folder.read(name)]))
    const file = (name: string) => {
      const text = files.get(name)
      if (text === undefined) throw new Error(`the asset lists no file "${name}" under "files"`)
      return text
    }
    const render = compileTemplate({ name: entry.template, text: folder.read(entry.template) })
    const { yieldsTo: _rival, needs: _needed, ...stated } = entry
    const asset = { ...stated, isTombstone: false, file, render }
    const mistakes = folder.isChecked ? templateMistakes(asset, namespace) : []
    if (mistakes.length > 0) return err(mistakes.map((mistake) => `${title}: ${mistake}`))
    // Whether it can be told what the asset grants.
    grantedBy(asset)
    return ok(asset)
  } catch (error) {
    return err([`${title}: ${(error as Error).message}`])
  }
}

// Before the HyperConverged, whose order is 0.
const TOMBSTONES_FIRST = -1

const buried = (entry: TombstoneEntry): Asset => ({
  ...entry,
  isTombstone: true,
  order: TOMBSTONES_FIRST,
  install: 'always',
  template: '',
  files: [],
  conditions: [],
  sections: [],
  maturity: 'stable',
  hcoFields: [],
  enums: {},
  fields: {},
  sensitive: false,
  create: true,
  prune: false,
  render: () => undefined,
  file: (name) => {
    throw new Error(`a tombstone has no file "${name}"`)
  },
})
