import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parse } from 'yaml'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { MergeTree } from '../../../../src/shared/engine/merge/merge-tree.ts'
import { type Schema, treeOf } from '../../../../src/shared/engine/merge/tree-of.ts'

interface Crd {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: Schema }
    }[]
  }
}

// Some have megabytes, and several versions that are asked for.
const crds = new Map<string, Crd>()

function crdIn(file: string): Crd {
  const known = crds.get(file)
  if (known) return known
  const crd = parse(readFileSync(new URL(`../../../crds/${file}`, import.meta.url), 'utf8')) as Crd
  crds.set(file, crd)
  return crd
}

/** The merge tree of a version of a CRD in `test/crds`. */
export const crdTree = (file: string, version: string): MergeTree => {
  const crd = crdIn(file)
  const schema = crd.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema
  if (!schema) throw new Error(`read ${file}: no version ${version}`)
  return treeOf(schema, () => undefined)
}

const text: Schema = { type: 'string' }

/** A schema with one field for each way in which the API server merges. */
export const everySort: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        text,
        map: {
          type: 'object',
          properties: { a: text, b: text, inner: { type: 'object', properties: { c: text } } },
        },
        atomicMap: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text } },
        dict: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { x: text, y: text } },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        list: { type: 'array', items: text },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        byName: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: text, value: text, more: text } },
        },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            properties: {
              port: { type: 'integer' },
              protocol: { ...text, default: 'TCP' },
              name: text,
            },
          },
        },
      },
    },
  },
}

export const tree = treeOf(everySort, () => undefined)

export const objectWith = (
  spec: unknown,
  metadata: Partial<KubeObject['metadata']> = {},
): KubeObject =>
  deepFreeze({
    apiVersion: 'example.com/v1',
    kind: 'Sort',
    metadata: { name: 'one', ...metadata },
    spec,
  })

export const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(Object.freeze(value))) deepFreeze(member)
  }
  return value
}

/** Specs that often meet: few names, few values, and every sort of value at every place. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>('a', 'b', 1, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'inner', 'name', 'port', 'protocol', '__proto__'),
      tie('value'),
      {
        maxKeys: 3,
      },
    ),
  ),
}))

const items = fc.array(
  fc.record(
    {
      name: fc.constantFrom('a', 'b'),
      value: fc.constantFrom('a', 'b'),
      port: fc.constantFrom(1, 2),
      protocol: fc.constantFrom('TCP', 'UDP'),
    },
    { requiredKeys: [] },
  ),
  { maxLength: 3 },
)

const sorts = [
  'text',
  'map',
  'atomicMap',
  'dict',
  'free',
  'list',
  'set',
  'byName',
  'ports',
  'unknown',
]

export const anyObject = fc
  .dictionary(fc.constantFrom(...sorts), fc.oneof(value, items, fc.jsonValue()), { maxKeys: 6 })
  .map((spec) => objectWith(spec))

export const seed = 20250307
