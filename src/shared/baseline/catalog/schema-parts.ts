import { type ObjectOptions, type TProperties, type TSchema, Type } from '@sinclair/typebox'

/** What a schema describes, as it is passed around: read only, all of it. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T

/** A map with these members, and no others. */
export const closed = <Members extends TProperties>(members: Members, options?: ObjectOptions) =>
  Type.Object(members, { additionalProperties: false, ...options })

/** A member that may be left out: it then has the default that its schema states. */
export const defaulted = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(schema) as unknown as Schema

/** One of some words. */
export const oneOf = <const Words extends readonly string[]>(
  words: Words,
  options: Readonly<Record<string, unknown>>,
) => Type.Unsafe<Words[number]>({ ...options, enum: words })

/** Something whose schema stands among the definitions of the whole. */
export const defined = <T>(name: string) => Type.Unsafe<T>({ $ref: `#/definitions/${name}` })

export const assetName = (description?: string) =>
  Type.String({
    pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
    ...(description !== undefined && { description }),
  })

export const reason = (description: string) =>
  Type.String({ maxLength: 70, pattern: '^[a-z0-9].*[^.\\s]$', description })

export const pointer = (description?: string) =>
  Type.String({
    pattern: '^(/([^/~]|~[01])*)+$',
    ...(description !== undefined && { description }),
  })

export const API_GROUP = Type.String({
  description: 'API group of the object; empty for the core group.',
  pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$',
})

export const API_KIND = Type.String({
  description: 'The kind, as in `kind:` of a manifest.',
  pattern: '^[A-Z][A-Za-z0-9]*$',
})

export const apiVersions = (description: string) =>
  Type.Array(Type.String({ pattern: '^v[0-9]+((alpha|beta)[0-9]+)?$' }), {
    minItems: 1,
    uniqueItems: true,
    description,
  })
