import { cut } from '../../engine/format-value.ts'
import { isEqual } from '../../engine/json/equal.ts'
import { isMap, memberOf } from '../../engine/json/object.ts'
import { formatPointer } from '../../engine/json/pointer.ts'

/** What became of a member of an object: the verb of a sentence about it. */
export type Verb = 'added' | 'removed' | 'changed'

/** The verb for a value that was one thing, or absent, and becomes another. */
export const verbOf = (before: unknown, after: unknown): Verb => {
  if (before === undefined) return 'added'
  return after === undefined ? 'removed' : 'changed'
}

/** A place in two objects; undefined where one has nothing there. */
export interface Difference {
  readonly pointer: string
  readonly before: unknown
  readonly after: unknown
}

/** Names the fields in which two JSON values differ: `field /spec/a changed`. A list is a field, and so is a map too deep down to be named. */
export function differencesOf(before: unknown, after: unknown, at: string): readonly string[] {
  const found: string[] = []
  // A stack of our own: a hostile object nests deeper than the engine's.
  const pending: Difference[] = [{ pointer: at, before, after }]
  for (let place = pending.pop(); place; place = pending.pop()) {
    const members = membersOf(place)
    if (members) for (const member of members) pending.push(member)
    else if (!isEqual(place.before, place.after)) found.push(sentenceOf(place))
  }
  return found.reverse()
}

const sentenceOf = ({ pointer, before, after }: Difference) =>
  `field ${cut(pointer, LONGEST)} ${verbOf(before, after)}`

/** As much of a pointer as a person reads, and a bound on what naming a deep place costs. */
const LONGEST = 256
const LONGEST_NAME = 128

/** The places of the members of both maps; undefined where the place is to be compared as a whole. */
export function membersOf({
  pointer,
  before,
  after,
}: Difference): readonly Difference[] | undefined {
  if (pointer.length > LONGEST || !isMap(before) || !isMap(after)) return undefined
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].map((name) => ({
    pointer: `${pointer}${formatPointer([name.slice(0, LONGEST_NAME)])}`,
    before: memberOf(before, name),
    after: memberOf(after, name),
  }))
}
