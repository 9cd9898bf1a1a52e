import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import type { Catalog } from '../shared/baseline/catalog/catalog.ts'
import { type CatalogFolder, loadCatalog } from '../shared/baseline/catalog/load-catalog.ts'
import type { KindSchema } from '../shared/cluster/schemas.ts'
import { isMap } from '../shared/engine/json/object.ts'

export interface CatalogOptions {
  /** The product's own namespace. */
  readonly namespace: string
  /** A folder of an admin's own assets, which are kept beside those that come with the program. */
  readonly assets?: string
}

/** The catalog that comes with the program and, where asked for, an admin's own; throws a CatalogError. */
export function loadCatalogWith({ namespace, assets }: CatalogOptions): Catalog {
  const own = ownFolder()
  if (assets === undefined) return loadCatalog({ namespace, folders: [own] })
  // Our own are checked when they are built.
  return loadCatalog({ namespace, folders: [own, { ...folderAt(assets), isChecked: true }] })
}

/** Of that catalog an admin's own assets alone. */
export function loadOwnAssets(options: CatalogOptions): Catalog {
  const known = new Set(loadCatalogWith({ namespace: options.namespace }).map(({ name }) => name))
  return loadCatalogWith(options).filter(({ name }) => !known.has(name))
}

/** A folder on disk as one that a catalog is loaded from. */
export const folderAt = (path: string): CatalogFolder => ({
  title: join(path, 'catalog.yaml'),
  read: (name) => {
    try {
      return readFileSync(join(path, name), 'utf8')
    } catch (cause) {
      throw new Error(whyUnread(path, name, cause as NodeJS.ErrnoException), { cause })
    }
  },
})

function whyUnread(folder: string, name: string, error: NodeJS.ErrnoException): string {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return `${folder} is no folder`
  if (error.code === 'ENOENT') return `there is no file ${name} in ${folder}`
  if (error.code === 'EISDIR') return `${name} in ${folder} is a folder, not a file`
  return error.code === 'EACCES' ? `the file ${name} in ${folder} may not be read` : error.message
}

/** The text of a file that comes with the program's own catalog. */
export const readOwnAsset = (name: string) => ownFolder().read(name)

/** The folder of the assets that come with the program. */
export const ownFolder = (): CatalogFolder => ({ ...folderAt(ownPath()), title: 'catalog.yaml' })

/** The path of something among the assets that come with the program: beside the sources, or beside the bundle. */
export function ownPath(name = ''): string {
  const folder = ['../../assets', '../assets']
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(join(path, 'catalog.yaml')))
  if (folder === undefined)
    throw new Error('the assets folder that comes with the program is missing: install it again')
  return join(folder, name)
}

/** The schemas of the kinds that come with the program, by `apiVersion/Kind`: where there is no cluster to ask. */
export function knownSchemas(): ReadonlyMap<string, KindSchema> {
  const content = JSON.parse(readOwnAsset('schemas.json')) as Record<string, KindSchema | string>
  return new Map(
    Object.entries(content).flatMap(([key, schema]) =>
      isMap(schema) ? [[key, schema as KindSchema] as const] : [],
    ),
  )
}
