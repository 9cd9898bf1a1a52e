import { isMap } from '../../src/shared/engine/json/object.ts'

/**
 * One change to a definition as it was published, and the reason. `set` puts a value at the path, `drop` takes
 * one out of the list there. The path is a JSON pointer in which `*` is every item of a list.
 */
export type Change = { readonly path: string; readonly why: string } & (
  | { readonly set: unknown }
  | { readonly drop: unknown }
)

/** A copy with one change made; throws where the path leads nowhere, or there is nothing to drop. */
export function overlaid(value: unknown, change: Change): unknown {
  const [, ...keys] = change.path.split('/')
  return changed(value, keys, change)
}

function changed(value: unknown, [key, ...rest]: readonly string[], change: Change): unknown {
  if (key === undefined) return 'set' in change ? change.set : without(value, change)
  if (key === '*' && Array.isArray(value)) return value.map((item) => changed(item, rest, change))
  // The last step of a path may be the one that is missing.
  if (!isMap(value) || !(key in value || (rest.length === 0 && 'set' in change)))
    throw new Error(`overlay ${change.path}: there is no ${key}: correct the path`)
  return { ...value, [key]: changed(value[key], rest, change) }
}

function without(value: unknown, { path, drop }: Extract<Change, { drop: unknown }>): unknown {
  if (Array.isArray(value) && value.includes(drop)) return value.filter((item) => item !== drop)
  throw new Error(`overlay ${path}: ${drop} is not in the list there: remove the overlay`)
}
