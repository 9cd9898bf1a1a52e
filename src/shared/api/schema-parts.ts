import { type Static, type TSchema, Type } from '@sinclair/typebox'

/** What a schema describes, as it is passed around: read only, all of it. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T

/** One of some words. */
export const oneOf = <const Words extends readonly string[]>(
  words: Words,
  options: Readonly<Record<string, unknown>> = {},
) => Type.Unsafe<Words[number]>({ ...options, enum: words })

/** A map from any name to what the schema says. */
export const mapOf = <Member extends TSchema>(member: Member) =>
  Type.Unsafe<Record<string, Static<Member>>>({ type: 'object', additionalProperties: member })
