import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Catalog, loadCatalog } from '../shared/catalog/catalog.ts'

/** The catalog that comes with the program: beside the sources, or beside the bundle. */
export function loadOwnCatalog(): Catalog {
  const folder = ['../../assets', '../assets']
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(join(path, 'catalog.yaml')))
  if (folder === undefined)
    throw new Error('the assets folder that comes with the program is missing: install it again')
  return loadCatalog((name) => readFileSync(join(folder, name), 'utf8'))
}
