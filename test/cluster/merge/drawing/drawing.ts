import fc from 'fast-check'
import type { Resolve, Schema } from '../../../../src/shared/engine/merge/tree-of.ts'
import { list } from './lists.ts'
import { type Drawn, free, freeMap, leaf, memberOf, oneOf, orNull } from './members.ts'
import {
  inside,
  namesAt,
  type Overlay,
  type Place,
  referred,
  refOf,
  valuesAt,
  withField,
} from './place.ts'
import type { Member } from './sketches.ts'
import { scalarsOf } from './values.ts'

type Members = Readonly<Record<string, Member>>

const KEYS = ['a', 'b', 'x.io/c']
const MAX_KEYS = 3

/** Pairs of objects of a kind, drawn from its schema. */
export const drawingOf = (schema: Schema, resolve: Resolve, overlay: Overlay): Drawn => {
  const root: Place = { resolve, overlay, path: [], within: [], isAtomic: false, draw }
  const drawing = draw(schema, root)
  if (!drawing) throw new Error('the schema of an object admits none')
  return drawing
}

const draw = (schema: Schema, place: Place): Drawn | undefined => {
  const values = valuesAt(place)
  if (values) return leaf(values)
  if (namesAt(place)?.length === 0) return undefined
  const ref = refOf(schema)
  if (ref === undefined) return inlined(schema, place)
  // A type inside itself has no end.
  if (place.within.includes(ref) || !place.resolve(ref)) return undefined
  return draw(referred(schema, place.resolve), { ...place, within: [...place.within, ref] })
}

const inlined = (schema: Schema, place: Place): Drawn | undefined => {
  const scalars = scalarsOf(schema)
  const sketch = scalars ? leaf(scalars) : container(schema, place)
  const isObject = place.path.length === 0
  return sketch && (isObject ? sketch : orNull(schema, sketch))
}

const container = (schema: Schema, place: Place): Drawn | undefined => {
  if (schema.type === 'array') return list(schema, place)
  const isAtomic = place.isAtomic || schema['x-kubernetes-map-type'] === 'atomic'
  if (schema.properties || isEmbedded(schema)) return map(schema, { ...place, isAtomic })
  const { additionalProperties } = schema
  if (typeof additionalProperties === 'object')
    return dictionary(schema, additionalProperties, { ...place, isAtomic })
  return schema.type === 'object' ? freeMap : free
}

const isEmbedded = (schema: Schema) => schema['x-kubernetes-embedded-resource'] === true

const map = (schema: Schema, place: Place): Drawn => {
  const properties = { ...(isEmbedded(schema) && EMBEDDED), ...schema.properties }
  const members = namesIn(schema, place, Object.keys(properties)).flatMap((name) => {
    const sketch = draw(properties[name.bare] ?? {}, withField(place, name.bare))
    return sketch ? [{ ...name, sketch }] : []
  })
  const optional = members.filter(({ isRequired }) => !isRequired).length
  const arbitraries = members.map(({ bare, isRequired, sketch }) => {
    const member = memberOf(sketch, isRequired)
    return [bare, isRequired ? member : orAbsent(member, optional, place)] as const
  })
  const known = fc.record(Object.fromEntries(arbitraries)).map(present)
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
  const all = preserves ? fc.tuple(freeMap, known).map(withUnknown) : known
  return all.map((all) => ({ members: all, isAtomic: place.isAtomic }))
}

const withUnknown = ([unknown, known]: readonly [unknown, Members]): Members => ({
  ...(unknown as { readonly members: Members }).members,
  ...known,
})

const text: Schema = { type: 'string' }

/** What an object has whatever its schema says. */
const EMBEDDED: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string', enum: ['v1', 'x.io/v1'] },
  kind: { type: 'string', enum: ['T', 'U'] },
  metadata: {
    type: 'object',
    properties: {
      name: text,
      labels: { type: 'object', additionalProperties: text },
      finalizers: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    },
  },
}

const namesIn = (schema: Schema, place: Place, known: readonly string[]) => {
  const required = [...(Array.isArray(schema.required) ? schema.required : []), ...mainOf(place)]
  const names = namesAt(place) ?? known
  return names.flatMap((name) => {
    const bare = name.replace('!', '')
    const isRequired = name !== bare || required.includes(bare)
    return known.includes(bare) ? [{ bare, isRequired }] : []
  })
}

/** What makes an object: its spec, and its type where it is embedded in another. */
const mainOf = ({ path }: Place) => (path.length === 0 ? ['spec'] : ['apiVersion', 'kind'])

/** An optional member among so many: about three of them are there near the root, one in the depth. */
const orAbsent = (member: fc.Arbitrary<Member>, among: number, { path }: Place) => {
  const wanted = path.length < 3 ? 3 : path.length < 6 ? 2 : 1
  const absent = fc.constant(undefined)
  return oneOf<Member | undefined>([Math.max(among - wanted, 1), absent], [wanted, member])
}

const present = (members: Readonly<Record<string, Member | undefined>>): Members =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) => (member ? [[name, member]] : [])),
  )

const dictionary = (schema: Schema, values: Schema, place: Place): Drawn | undefined => {
  const sketch = draw(values, inside(place, '{}', place.isAtomic))
  if (!sketch) return undefined
  const names = namesAt(place) ?? KEYS
  const minKeys = Math.min(Number(schema.minProperties ?? 0), names.length)
  const bounds = { minKeys, maxKeys: MAX_KEYS }
  const members = fc.dictionary(fc.constantFrom(...names), memberOf(sketch, minKeys > 0), bounds)
  return members.map((all) => ({ members: all, isAtomic: place.isAtomic }))
}
