import fc from 'fast-check'
import type { Schema } from '../../../../src/shared/engine/merge/tree-of.ts'
import { type Drawn, memberOf, oneOf } from './members.ts'
import { inside, namesAt, type Place, referred, valuesAt, withField } from './place.ts'
import type { Member, Sketch } from './sketches.ts'
import { scalarsOf } from './values.ts'

interface Bounds {
  readonly minLength: number
  readonly maxLength: number
}

const MAX_ITEMS = 3

/** A list whose items are often in both objects: by position, by value in a set, else by their keys. */
export const list = (schema: Schema, place: Place): Drawn | undefined => {
  const listType = schema['x-kubernetes-list-type']
  const isAtomic = place.isAtomic || !(listType === 'set' || listType === 'map')
  const item = place.draw(schema.items ?? {}, inside(place, '[]', isAtomic))
  if (!item) return undefined
  const bounds = boundsOf(schema, place)
  const isUnique = listType === 'set' || schema.uniqueItems === true
  const members =
    listType === 'map' ? keyed(schema, place, item, bounds) : plain(item, bounds, isUnique)
  const isMerged = !isAtomic && listType !== undefined
  const all = isMerged ? orRepeated(members) : members
  return all.map((drawn): Sketch => {
    const items = drawn.map((one, index) => ({ ...one, isRequired: index < bounds.minLength }))
    return { items, isAtomic }
  })
}

const boundsOf = ({ minItems = 0, maxItems = MAX_ITEMS }: Schema, place: Place): Bounds => {
  const minLength = Math.max(Number(minItems), isNeeded(place) ? 1 : 0)
  return { minLength, maxLength: Math.max(minLength, Math.min(Number(maxItems), MAX_ITEMS)) }
}

/** Whether the overlay wants something in this list: the schemas of built-in kinds do not say so. */
const isNeeded = (place: Place) =>
  namesAt({ ...place, path: place.path.slice(0, -1) })?.includes(`${place.path.at(-1)}!`) ?? false

const plain = (item: Drawn, bounds: Bounds, isUnique: boolean): fc.Arbitrary<Member[]> => {
  if (!isUnique) return fc.array(memberOf(item, false), bounds)
  const members = memberOf(
    item.filter((sketch) => 'value' in sketch),
    false,
  )
  return fc.uniqueArray(members, { ...bounds, selector: ({ sketch }) => JSON.stringify(sketch) })
}

/** Some built-in kinds store a list that has an item twice. */
const orRepeated = (members: fc.Arbitrary<readonly Member[]>) =>
  fc
    .tuple(members, oneOf([12, fc.constant(false)], [1, fc.constant(true)]))
    .map(([items, isRepeated]): readonly Member[] => {
      const [first] = items
      return first && isRepeated ? [...items, { ...first, side: 'live' }] : items
    })

const keyed = (
  schema: Schema,
  place: Place,
  item: Drawn,
  bounds: Bounds,
): fc.Arbitrary<Member[]> => {
  const { properties = {} } = referred(schema.items ?? {}, place.resolve)
  const names = schema['x-kubernetes-list-map-keys'] ?? []
  const keys = fc.record(
    Object.fromEntries(names.map((name) => [name, keysAt(place, name, properties[name])])),
  )
  const identified = fc
    .tuple(keys, memberOf(item, false), fc.boolean())
    .map(([key, member, omits]) => {
      const identity = Object.entries(key).flatMap(([name, value]) => {
        // What a default says may be left out.
        const isOmitted = omits && value === properties[name]?.default
        return isOmitted ? [] : [[name, inBoth(value)] as const]
      })
      return { key: JSON.stringify(key), member: withIdentity(member, names, identity) }
    })
  return fc
    .uniqueArray(identified, { ...bounds, selector: ({ key }) => key })
    .map((items) => items.map(({ member }) => member))
}

const keysAt = (place: Place, name: string, schema: Schema = { type: 'string' }) => {
  const at = withField(inside(place, '[]', false), name)
  const values = valuesAt(at) ?? scalarsOf(referred(schema, place.resolve))
  return values ?? fc.constantFrom<unknown>('a', 'b')
}

const inBoth = (value: unknown): Member => ({ side: 'both', isRequired: true, sketch: { value } })

const withIdentity = (
  member: Member,
  names: readonly string[],
  identity: readonly (readonly [string, Member])[],
): Member => {
  const { sketch } = member
  const isAtomic = 'isAtomic' in sketch && sketch.isAtomic
  const members = 'members' in sketch ? Object.entries(sketch.members) : []
  const others = members.filter(([name]) => !names.includes(name))
  return { ...member, sketch: { members: Object.fromEntries([...identity, ...others]), isAtomic } }
}
