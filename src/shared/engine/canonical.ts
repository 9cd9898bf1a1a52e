import { isMap } from './object.ts'

/** JSON with the members of every map in one fixed order: equal values give equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, sortMembers)

const sortMembers = (_key: string, value: unknown) =>
  isMap(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)
