import { isMap, isScalar, isSeq, parseDocument } from 'yaml'

import { err, ok, type Result } from '../engine/result.ts'
import { showValue } from '../engine/show.ts'
import type { Asset } from './catalog.ts'
import { matchesGlob } from './glob.ts'

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

/** Reads `disabled-resources`; the error completes a sentence that starts with the annotation. */
export function parseExclusions(text: string): Result<readonly Exclusion[], string> {
  // The library's own check for equal keys compares each with each.
  const { errors, warnings, contents } = parseDocument(text, { uniqueKeys: false })
  const [broken] = [...errors, ...warnings]
  if (broken) return err(`must be a YAML list: ${broken.message.split(/:?\n/)[0]}`)
  if (!isSeq(contents)) return err('must be a YAML list of names, or of {kind, name, namespace}')
  const exclusions: Exclusion[] = []
  for (const [index, item] of contents.items.entries()) {
    const exclusion = parseExclusion(item)
    if (!exclusion.ok) return err(`item ${index} ${exclusion.error}`)
    exclusions.push(exclusion.value)
  }
  return ok(exclusions)
}

// Nodes are read, never their values as a whole: aliases, which can multiply, stay unresolved and are refused.
function parseExclusion(item: unknown): Result<Exclusion, string> {
  if (isScalar(item) && isName(item.value)) return ok({ asset: item.value })
  if (!isMap(item)) return err('must be a name or {kind, name, namespace}')
  const fields = item.items.map(({ key }) => (isScalar(key) ? String(key.value) : ''))
  const unknown = fields.find((field) => !FIELDS.has(field))
  if (unknown !== undefined) return err(`has the unknown field ${showValue('', unknown)}`)
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
