import { Ajv, type ErrorObject } from 'ajv'
import { isNode, LineCounter, parseDocument } from 'yaml'

import { valueAt } from '../../engine/json/pointer.ts'
import { err, ok, type Result } from '../../engine/result.ts'
import { type AssetEntry, catalogSchema, type TombstoneEntry } from './catalog-schema.ts'

/** An entry of a catalog, and where in the text it is. */
export interface TitledEntry<Entry> {
  readonly entry: Entry
  /** `catalog.yaml:12: asset swap-enable`. */
  readonly title: string
  /** The same for what a path leads to within it: `catalog.yaml:14: asset swap-enable: /object/kind`. */
  readonly titleOf: (path: readonly string[]) => string
}

/** The entries of a catalog that its schema admits. */
export interface Entries {
  readonly assets: readonly TitledEntry<AssetEntry>[]
  readonly tombstones: readonly TitledEntry<TombstoneEntry>[]
}

/** Reads a catalog's text; the error has one line per mistake, each with the file, its line and the asset. */
export function parseCatalog(file: string, text: string): Result<Entries, readonly string[]> {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const placeOf = (offset: number) => `${file}:${lines.linePos(offset).line}`
  const broken = [...document.errors, ...document.warnings]
  if (broken.length > 0) {
    return err(broken.map(({ pos, message }) => `${placeOf(pos[0])}: ${message}`))
  }

  const value: unknown = document.toJS()
  const title = (path: readonly string[], member: readonly string[]) => {
    const node = document.getIn([...path, ...member], true)
    const place = isNode(node) && node.range ? placeOf(node.range[0]) : file
    return `${place}: ${subjectOf(value, path)}`
  }
  const validate = ajv.compile<{ assets: AssetEntry[]; tombstones: TombstoneEntry[] }>(
    catalogSchema,
  )
  if (!validate(value)) {
    const lines = (validate.errors ?? []).filter(isTelling).map((error) => {
      const name = memberOf(error)
      return `${title(pathOf(error), name === undefined ? [] : [name])} ${explain(error)}`
    })
    return err([...new Set(lines)])
  }
  const titled = <T>(list: 'assets' | 'tombstones', entries: readonly T[]) =>
    entries.map((entry, index) => {
      const titleOf = (path: readonly string[]) => title([list, String(index), ...path], [])
      return { entry, title: titleOf([]), titleOf }
    })
  return ok({
    assets: titled('assets', value.assets),
    tombstones: titled('tombstones', value.tombstones),
  })
}

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  strict: false,
  discriminator: true,
  verbose: true,
  // A test checks our one schema; to check it at each start takes as long as everything else about the catalog.
  meta: false,
  validateSchema: false,
})

const pathOf = ({ instancePath }: ErrorObject) => instancePath.split('/').slice(1)

function subjectOf(value: unknown, path: readonly string[]): string {
  const [list, index, ...rest] = path
  if (list === undefined) return 'the catalog'
  if (index === undefined) return `/${list}`
  const name = valueAt(value, [list, index, 'name'])
  const what = list === 'tombstones' ? 'tombstone' : 'asset'
  const entry = typeof name === 'string' ? `${what} ${name}` : `${what} number ${index}`
  return rest.length === 0 ? entry : `${entry}: /${rest.join('/')}`
}

// These only say that something beneath them, which has an error of its own, is wrong.
const WRAPPERS: ReadonlySet<string> = new Set(['if', 'propertyNames'])

/** Whether an error says what to mend, and not only that something beneath it is wrong. */
const isTelling = ({ keyword, schemaPath }: ErrorObject) =>
  !WRAPPERS.has(keyword) && !schemaPath.includes('/contains/')

/** The member at fault, where the error is about a map that has it. */
const memberOf = ({ keyword, params, propertyName }: ErrorObject): string | undefined =>
  keyword === 'additionalProperties' ? String(params.additionalProperty) : propertyName

function explain(error: ErrorObject): string {
  const { keyword, params, schema, message } = error
  switch (keyword) {
    case 'additionalProperties':
      return `has the unknown member "${memberOf(error)}"`
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`
    case 'discriminator':
      return 'is a condition of no known type'
    case 'contains':
      return 'must hold an annotation or feature-gate condition without "not", since the asset is opt-in'
    case 'not':
      return `must not ${(schema as { readonly description: string }).description}`
    default:
      return error.propertyName === undefined
        ? String(message)
        : `has the member "${error.propertyName}", which ${message}`
  }
}
