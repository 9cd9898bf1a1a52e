import type fc from 'fast-check'
import type { Resolve, Schema } from '../../../../src/shared/engine/merge/tree-of.ts'
import type { Drawn } from './members.ts'

/**
 * What a schema does not say, by the last fields of a path (`ports[].port`, `limits{}`) or by all of
 * them (`^spec.type`): the values of a field, or the only members of a map (a `!` marks those that are
 * always there, none at all leaves the field out).
 */
export type Overlay = Readonly<Record<string, fc.Arbitrary<unknown> | readonly string[]>>

/** Where in an object something is drawn. */
export interface Place {
  readonly resolve: Resolve
  readonly overlay: Overlay
  readonly path: readonly string[]
  /** The references that led here. */
  readonly within: readonly string[]
  /** Part of what is replaced whole. */
  readonly isAtomic: boolean
  /** Draws what a schema says of a place; undefined where nothing is to be there. */
  readonly draw: (schema: Schema, place: Place) => Drawn | undefined
}

/** The values that the overlay has for the place. */
export const valuesAt = (place: Place): fc.Arbitrary<unknown> | undefined => {
  const said = overlaid(place)
  return said && 'generate' in said ? said : undefined
}

/** The names that the overlay has for the place. */
export const namesAt = (place: Place): readonly string[] | undefined => {
  const said = overlaid(place)
  return said && !('generate' in said) ? said : undefined
}

const overlaid = ({ overlay, path }: Place) => {
  const suffixes = path.map((_field, index) => path.slice(index).join('.'))
  const names = [`^${path.join('.')}`, ...suffixes]
  const name = names.find((suffix) => Object.hasOwn(overlay, suffix))
  return name === undefined ? undefined : overlay[name]
}

/** The place of a map's member. */
export const withField = (place: Place, field: string): Place => ({
  ...place,
  path: [...place.path, field],
})

/** The place of what is in a list (`[]`) or in a map of any names (`{}`). */
export const inside = (place: Place, mark: string, isAtomic: boolean): Place => ({
  ...place,
  path: [...place.path.slice(0, -1), `${place.path.at(-1) ?? ''}${mark}`],
  isAtomic,
})

/** What a schema refers to, with what is said beside the reference; itself where it does not. */
export const referred = (schema: Schema, resolve: Resolve): Schema => {
  const ref = refOf(schema)
  if (ref === undefined) return schema
  const { $ref: _ref, allOf: _allOf, ...beside } = schema
  return { ...resolve(ref), ...beside }
}

/** The reference of a schema that is one. */
export const refOf = ({ $ref, allOf }: Schema) => $ref ?? allOf?.[0]?.$ref
