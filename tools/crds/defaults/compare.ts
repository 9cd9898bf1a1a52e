import { isEqual } from '../../../src/shared/engine/json/equal.ts'
import { isMap } from '../../../src/shared/engine/json/object.ts'
import { formatPointer } from '../../../src/shared/engine/json/pointer.ts'
import type { Schema } from '../../../src/shared/engine/merge/tree-of.ts'

/** A value of ours that says no more than a default does, or did. */
export interface Finding {
  /**
   * equal: it is the default, and counts only after an edit, since it is put back. older: it was the default of an
   * earlier release, so that we undo what the operator has changed since.
   */
  readonly verdict: 'equal' | 'older'
  readonly pointer: string
  readonly value: unknown
  /** The default of today. */
  readonly standard: unknown
}

/**
 * Compares each value of an object with the default that a schema has for it, and where it has another one, with those
 * that earlier releases of the schema had. A list is one value.
 */
export const compareWithDefaults = (
  object: unknown,
  schema: Schema,
  earlier: readonly Schema[],
): readonly Finding[] =>
  valuesIn(object).flatMap(({ keys, value }): readonly Finding[] => {
    const standard = defaultAt(schema, keys)
    if (standard === undefined) return []
    const found = { pointer: formatPointer(keys), value, standard }
    if (isEqual(value, standard)) return [{ verdict: 'equal', ...found }]
    const isOlder = earlier.some((one) => isEqual(value, defaultAt(one, keys)))
    return isOlder ? [{ verdict: 'older', ...found }] : []
  })

interface Value {
  readonly keys: readonly string[]
  readonly value: unknown
}

const valuesIn = (value: unknown, keys: readonly string[] = []): readonly Value[] =>
  isMap(value)
    ? Object.entries(value).flatMap(([key, member]) => valuesIn(member, [...keys, key]))
    : [{ keys, value }]

/** A field's own default; where it has none, what the nearest default of a map around it has in its place. */
function defaultAt(
  schema: Schema | undefined,
  [key, ...rest]: readonly string[],
  inherited?: unknown,
): unknown {
  const standard = schema?.default ?? inherited
  if (key === undefined) return standard
  const within = isMap(standard) && Object.hasOwn(standard, key) ? standard[key] : undefined
  return defaultAt(memberOf(schema, key), rest, within)
}

function memberOf(schema: Schema | undefined, key: string): Schema | undefined {
  const { properties = {}, additionalProperties } = schema ?? {}
  if (Object.hasOwn(properties, key)) return properties[key]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** Whether a schema has a default anywhere: some are published without. */
export const hasDefaults = (schema: Schema): boolean =>
  'default' in schema ||
  [...Object.values(schema.properties ?? {}), schema.additionalProperties, schema.items].some(
    (part) => typeof part === 'object' && hasDefaults(part),
  )
