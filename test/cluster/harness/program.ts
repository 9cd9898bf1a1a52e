import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { folderAt } from '../../../src/cli/assets.ts'
import type { Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'
import { loadCatalog } from '../../../src/shared/baseline/catalog/load-catalog.ts'
import { environment, type Scope } from './fixture.ts'
import { NAMESPACE } from './plane/audit-policy.ts'

export { NAMESPACE }

const ROOT = join(import.meta.dirname, '../../..')

/** The program as it ships, with the catalog that it runs on. */
export interface Program {
  readonly entry: string
  readonly catalog: Catalog
}

/** A catalog.yaml as data, to be changed for a test. */
export interface CatalogText {
  readonly assets: readonly Readonly<Record<string, unknown>>[]
  readonly [member: string]: unknown
}

export interface CatalogChange {
  readonly change: (catalog: CatalogText) => CatalogText
  /** Texts of further templates and files, by their names in the assets folder. */
  readonly files?: Readonly<Record<string, string>>
}

/** A ConfigMap of the default namespace as the object of a catalog's entry: it needs no definition. */
export const configMap = (name: string) => ({
  group: '',
  versions: ['v1'],
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespace: 'default',
  name,
})

/** What every run of the tests builds first; or the sources themselves, whose coverage can be told line by line. */
export const ENTRY = join(
  ROOT,
  environment().AUTOPILOT_FROM_SOURCE ? 'src/cli/main.ts' : 'dist/main.js',
)

/**
 * What the environment of a process of the product has. Of the program that every run starts hundreds of times, what Node compiled is
 * kept, if the runner says where: a tenth of its start. Of a copy it would be kept for nobody.
 */
export const environmentOf = (entry: string) => {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = environment()
  return { PATH, NODE_COMPILE_CACHE: entry === ENTRY ? NODE_COMPILE_CACHE : '' }
}

let own: Program | undefined

/** The program as it ships, with its own catalog, which is read once. */
export function ownProgram(): Program {
  own ??= { entry: ENTRY, catalog: catalogIn(join(ROOT, 'assets')) }
  return own
}

const catalogIn = (folder: string) =>
  loadCatalog({ folders: [folderAt(folder)], namespace: NAMESPACE })

/** A copy of the shipped program whose catalog is another one, in a folder that goes with its scope. */
export function programWith(
  t: Pick<Scope, 'teardown'>,
  { change, files = {} }: CatalogChange,
): Program {
  const folder = mkdtempSync(join(tmpdir(), 'autopilot-program-'))
  t.teardown(async () => rmSync(folder, { recursive: true }))
  const isCode = (name: string) => name.endsWith('.js')
  for (const name of readdirSync(join(ROOT, 'dist')).filter(isCode))
    cpSync(join(ROOT, 'dist', name), join(folder, 'dist', name))
  const assets = join(folder, 'assets')
  cpSync(join(ROOT, 'assets'), assets, { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  const text = readFileSync(join(assets, 'catalog.yaml'), 'utf8')
  writeFileSync(join(assets, 'catalog.yaml'), stringify(change(parse(text) as CatalogText)))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(assets, name), content)
  return { entry: join(folder, 'dist/main.js'), catalog: catalogIn(assets) }
}
