import {
  type Alias,
  type DocumentOptions,
  type ParseOptions,
  Scalar,
  type ScalarTag,
  type SchemaOptions,
  type Tags,
} from 'yaml'
import { isMap } from '../shared/engine/json/object.ts'

/**
 * The options under which YAML means what kubectl takes it for: it reads with go-yaml, as nearly every tool for Kubernetes does.
 * That is YAML 1.1, but for dates and 1:30, which are texts, for numbers, and for what a merge key does.
 */
export const AS_KUBECTL = {
  version: '1.1',
  customTags: (tags: Tags) => [...tags.filter(isKept), merge, number('int'), number('float')],
} as const satisfies ParseOptions & DocumentOptions & SchemaOptions

const TAG = 'tag:yaml.org,2002:'
const KEPT: ReadonlySet<string> = new Set(['map', 'seq', 'str', 'null', 'bool'])

const isKept = (tag: Tags[number]) => typeof tag === 'object' && KEPT.has(tag.tag.replace(TAG, ''))

/** A number as Go writes it. One that JSON does not have, as .inf, is a text here; kubectl refuses it. */
const number = (kind: 'int' | 'float'): ScalarTag => ({
  tag: `${TAG}${kind}`,
  default: true,
  test: /^[-+.\d]/,
  resolve: (text) => numberIn(text) ?? text,
})

const OTHER_BASE = /^0(?:[bB][01]+|[oO]?[0-7]+|[xX][\da-fA-F]+)$/
const DECIMAL = /^(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/

function numberIn(text: string): number | undefined {
  // Underscores are nothing; but where a point comes first, digits are on both sides of one.
  const plain = /^\.(?:.*\D)?_|^\..*_(?!\d)/.test(text) ? text : text.replaceAll('_', '')
  const digits = plain.replace(/^[-+]/, '')
  if (!OTHER_BASE.test(digits) && !DECIMAL.test(digits)) return undefined
  const value = Number(OTHER_BASE.test(digits) ? digits.replace(/^0(?=[0-7])/, '0o') : digits)
  if (!Number.isFinite(value)) return undefined
  return plain.startsWith('-') ? 0 - value : value
}

/** A merge key: what is merged goes before what was said above it, and what is said below goes before that. */
const merge: ScalarTag = {
  tag: `${TAG}merge`,
  default: 'key',
  test: /^<<$/,
  resolve: () => Object.assign(new Scalar(Symbol('<<')), { addToJSMap }),
}

const addToJSMap: NonNullable<Scalar['addToJSMap']> = (context, map, value) => {
  const merged: unknown = (value as Alias).toJSON(null, context)
  // Of several maps the first counts.
  for (const source of Array.isArray(merged) ? merged.toReversed() : [merged]) {
    if (!isMap(source)) throw new Error('only maps can be merged (<<)')
    Object.defineProperties(map, Object.getOwnPropertyDescriptors(source))
  }
}
