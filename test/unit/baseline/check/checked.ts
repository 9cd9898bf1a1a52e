import type { Catalog } from '../../../../src/shared/baseline/catalog/catalog.ts'
import { CatalogError } from '../../../../src/shared/baseline/catalog/catalog-error.ts'
import { loadCatalog } from '../../../../src/shared/baseline/catalog/load-catalog.ts'

/** A template's head that no rule has anything against. */
export const HEAD = `apiVersion: <%= object.apiVersion %>
kind: <%= object.kind %>
metadata:
  name: <%= object.name %>
`

/** An entry of a catalog; its members replace those of the default. */
export const entry = (members: Readonly<Record<string, unknown>> = {}) => ({
  name: 'one',
  group: 'some',
  description: 'a reason',
  template: 'active/one.yaml.ejs',
  object: { group: 'x.io', versions: ['v1'], kind: 'Thing', resource: 'things', name: 'one' },
  install: 'always',
  order: 7,
  ...members,
})

interface Entries {
  readonly assets: readonly object[]
  readonly tombstones?: readonly object[]
}

type Files = Readonly<Record<string, string>>

/** Where the product is. */
export const NAMESPACE = 'autopilot'

/** A catalog of these entries, whose templates and files are these texts. */
export function checkedCatalog(entries: Entries, files: Files): Catalog {
  const all: Files = { 'catalog.yaml': JSON.stringify(entries), ...files }
  const read = (name: string) => all[name] ?? ''
  const folders = [{ title: 'catalog.yaml', read, isChecked: true }]
  return loadCatalog({ folders, namespace: NAMESPACE })
}

/** Every mistake in such a catalog. */
export function mistakesIn(entries: Entries, files: Files): readonly string[] {
  try {
    checkedCatalog(entries, files)
    return []
  } catch (error) {
    if (error instanceof CatalogError) return error.mistakes
    throw error
  }
}

/** Every mistake in a catalog of one asset with this template. */
export const mistakesInTemplate = (
  text: string,
  members: Readonly<Record<string, unknown>> = {},
): readonly string[] => mistakesIn({ assets: [entry(members)] }, { 'active/one.yaml.ejs': text })
