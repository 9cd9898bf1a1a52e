import { isMap, type JsonMap } from '../engine/json/object.ts'
import { formatPointer, valueAt } from '../engine/json/pointer.ts'

/** What the API server puts in the place of fields that are left out, by their pointers. */
export type SchemaDefaults = Readonly<Record<string, unknown>>

/** The defaults of a kind's fields, in lists and free maps excepted. */
export const defaultsOf = (
  schema: unknown,
  dereference: (schema: unknown) => unknown,
): SchemaDefaults => Object.fromEntries(defaultsIn(schema, dereference, [], undefined, []))

function* defaultsIn(
  schema: unknown,
  dereference: (schema: unknown) => unknown,
  path: readonly string[],
  given: unknown,
  within: readonly unknown[],
): Generator<readonly [pointer: string, value: unknown]> {
  const target = dereference(schema)
  // What the default of a whole says goes before that of its part.
  const value = given ?? valueAt(schema, ['default']) ?? valueAt(target, ['default'])
  const properties: unknown = valueAt(target, ['properties'])
  if (!isMap(properties)) {
    if (value !== undefined && value !== null) yield [formatPointer(path), value]
    return
  }
  // A type may hold itself, and in several places: opened again in each, it would never end.
  if (within.includes(target)) return
  for (const [name, member] of Object.entries(properties as JsonMap))
    yield* defaultsIn(member, dereference, [...path, name], valueAt(value, [name]), [
      ...within,
      target,
    ])
}
