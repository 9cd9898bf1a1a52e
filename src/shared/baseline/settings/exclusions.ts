import { LRUCache } from 'lru-cache'
import { CST, isMap, isScalar, isSeq, Lexer, parseDocument } from 'yaml'
import { formatValue } from '../../engine/format-value.ts'
import { err, ok, type Result } from '../../engine/result.ts'
import type { Asset } from '../catalog/catalog.ts'
import { matchesGlob } from './match-names.ts'

/** One entry of `disabled-resources`: a glob over asset names and `group/asset`, or globs over an object's identity. */
export type Exclusion =
  | { readonly asset: string }
  | { readonly kind: string; readonly name: string; readonly namespace?: string }

/** Whether `disabled-resources` switches the asset off. */
export const isExcluded = (
  exclusions: readonly Exclusion[],
  asset: Pick<Asset, 'name' | 'group' | 'object'>,
  namespace = '',
) =>
  exclusions.some((exclusion) =>
    'asset' in exclusion
      ? [asset.name, `${asset.group}/${asset.name}`].some((n) => matchesGlob(exclusion.asset, n))
      : matchesGlob(exclusion.kind, asset.object.kind) &&
        matchesGlob(exclusion.name, asset.object.name) &&
        matchesGlob(exclusion.namespace ?? '*', namespace),
  )

type Parsed = Result<readonly Exclusion[], string>

// One write has the same few texts read several times.
const parsed = new LRUCache<string, Parsed>({ max: 4 })

/** Reads `disabled-resources`; the error completes a sentence that starts with the annotation. */
export function parseExclusions(text: string): Parsed {
  const known = parsed.get(text) ?? parse(text)
  parsed.set(text, known)
  return known
}

function parse(text: string): Parsed {
  const excess = excessIn(text)
  if (excess !== undefined) return err(excess)
  // The library's own check for equal keys compares each with each, and its pretty errors show the text around each.
  const options = { uniqueKeys: false, prettyErrors: false }
  const { errors, warnings, contents } = parseDocument(text, options)
  const [broken] = [...errors, ...warnings]
  if (broken)
    return err(`must be a YAML list: ${broken.message} at ${placeIn(text, broken.pos[0])}`)
  if (!isSeq(contents)) return err('must be a YAML list of names, or of {kind, name, namespace}')
  const exclusions: Exclusion[] = []
  for (const [index, item] of contents.items.entries()) {
    const exclusion = parseExclusion(item)
    if (!exclusion.ok) return err(`item ${index} ${exclusion.error}`)
    exclusions.push(exclusion.value)
  }
  return ok(exclusions)
}

// Some 300 names, or 75 objects.
const MOST_TOKENS = 1_500
const LONGEST_TOKEN = 1_024
// Two are enough for {kind, name, namespace} in a list.
const MOST_NESTED = 8

/**
 * What there is too much of to be read; undefined where the text is of a size to read. The library makes an error, with a
 * stack trace, of each mistake that it finds, and calls itself for each level: without a bound, text of 16 KiB takes it half
 * a second, or its stack. Its lexer does neither; what is left can hold one mistake for each token.
 */
function excessIn(text: string): string | undefined {
  const nesting = createNesting()
  let tokens = 0
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token) ?? ''
    if (nesting(type) > MOST_NESTED) return `must not nest deeper than ${MOST_NESTED} levels`
    const excess = excessInToken(token, type)
    if (excess !== undefined) return excess
    if (++tokens > MOST_TOKENS) return 'must not list so much: a glob can stand for many names'
  }
  return undefined
}

function excessInToken(token: string, type: string): string | undefined {
  if (type === 'comment') return undefined
  if (token.length > LONGEST_TOKEN)
    return `must not hold a name of more than ${LONGEST_TOKEN} characters`
  return type === 'double-quoted-scalar' && token.includes('\\')
    ? 'must hold no escapes: no name needs one'
    : undefined
}

/** Counts how many brackets are open and, outside them, what on one line lies inside one another. */
function createNesting(): (type: string) => number {
  let [brackets, inLine] = [0, 0]
  return (type) => {
    // One that closes nothing is a mistake, and no room for another that opens.
    brackets = Math.max(0, brackets + (BRACKETS[type] ?? 0))
    if (type === 'newline') inLine = 0
    else if (brackets === 0 && LEVELS.has(type)) inLine++
    return brackets + inLine
  }
}

const BRACKETS: Readonly<Record<string, number>> = {
  'flow-seq-start': 1,
  'flow-map-start': 1,
  'flow-seq-end': -1,
  'flow-map-end': -1,
}

const LEVELS: ReadonlySet<string> = new Set(['seq-item-ind', 'explicit-key-ind', 'map-value-ind'])

const placeIn = (text: string, offset: number) => {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

// Nodes are read, never their values as a whole: aliases, which can multiply, stay unresolved and are refused.
function parseExclusion(item: unknown): Result<Exclusion, string> {
  if (isScalar(item) && isName(item.value)) return ok({ asset: item.value })
  if (!isMap(item)) return err('must be a name or {kind, name, namespace}')
  const fields = item.items.map(({ key }) => (isScalar(key) ? String(key.value) : ''))
  const unknown = fields.find((field) => !FIELDS.has(field))
  if (unknown !== undefined) return err(`has the unknown field ${formatValue('', unknown)}`)
  if (new Set(fields).size < fields.length) return err('has a field twice')
  const [kind, name, namespace] = ['kind', 'name', 'namespace'].map((field) => item.get(field))
  if (!isName(kind) || !isName(name)) return err('must have a kind and a name, both strings')
  if (!item.has('namespace')) return ok({ kind, name })
  return typeof namespace === 'string'
    ? ok({ kind, name, namespace })
    : err('has a namespace that is no string')
}

const FIELDS: ReadonlySet<string> = new Set(['kind', 'name', 'namespace'])

const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''
