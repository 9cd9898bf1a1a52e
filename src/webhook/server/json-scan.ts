import { Refused } from './review.ts'

/** Where a value stands in JSON text, and how many values it is made of, itself included; a member's name is none. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly values: number
  /**
   * Of a map whose members were asked for those that it has, the last one where a name stands twice, as `JSON.parse` has
   * it; undefined for any other value.
   */
  readonly members?: ReadonlyMap<string, Span>
}

/** Which members of a map to find, and which of theirs: by their names, or the first ones whose names start so. */
export type Wanted =
  | { readonly members: Readonly<Record<string, Wanted | true>> }
  | { readonly prefix: string; readonly most: number }

/** The text ends too early, or is something else where a value should be. What is passed over is not judged. */
const notJson = () => new Refused(400, 'the body is no valid JSON')

/** Builds the value of so much text. Throws Refused. */
export function parseJsonAt(text: Buffer, start = 0, end = text.length): unknown {
  try {
    // `__proto__` is a legal key of a ConfigMap; nothing here assigns by keys from outside.
    return JSON.parse(text.toString('utf8', start, end))
  } catch {
    throw notJson()
  }
}

/**
 * Finds members of a JSON map without building any value: time by the length of the text, memory by what was asked
 * for, however many values there are and however deep they nest. A name that is written with escapes is not found: the
 * API server writes none so.
 */
export function scanMap(text: Buffer, wanted: Wanted): Span {
  const scanner = new Scanner(text)
  const map = scanner.scan(wanted)
  scanner.end()
  if (!map.members) throw notJson()
  return map
}

// What a character is to a scanner; of a number or a word each one is `Other`. A member's name counts as a text; the colon
// after it takes that back.
const [Other, Space, Comma, Colon, Open, Close, Quote, End] = [0, 1, 2, 3, 4, 5, 6, 7]
const VALUES = [1, 0, 0, -1, 1, 0, 1, 0]
const DEPTHS = [0, 0, 0, 0, 1, -1, 0, 0]

// From so many characters on, `indexOf` is faster than a loop over bytes.
const LONG = 64
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_MAP = 0x7b
const NO_CHARACTER = 256

const SORTS = new Uint8Array(NO_CHARACTER + 1).fill(Space, 0, 0x21)
SORTS[NO_CHARACTER] = End
for (const [characters, sort] of [
  [',', Comma],
  [':', Colon],
  ['{[', Open],
  ['}]', Close],
  ['"', Quote],
] as const)
  for (const character of characters) SORTS[character.charCodeAt(0)] = sort

class Scanner {
  readonly #text: Buffer
  #at = 0
  #values = 0

  constructor(text: Buffer) {
    this.#text = text
  }

  /** Scans one value. Calls itself as deep as `wanted` is, which is ours to say. */
  scan(wanted: Wanted | true): Span {
    this.#peek()
    const [start, before] = [this.#at, this.#values]
    const isMap = wanted !== true && this.#text[start] === OPEN_MAP
    const members = isMap ? this.#scanMembers(wanted) : this.#pass()
    const span = { start, end: this.#at, values: this.#values - before }
    return members ? { ...span, members } : span
  }

  /** Makes sure that nothing comes after what was scanned. */
  end(): void {
    if (this.#peek() !== End) throw notJson()
  }

  #scanMembers(wanted: Wanted): ReadonlyMap<string, Span> {
    const members = new Map<string, Span>()
    this.#values++
    this.#at++
    while (this.#peek() !== Close) {
      if (this.#peek() === Comma) this.#at++
      const name = this.#name(wanted, members.size)
      if (name === undefined) this.#pass()
      else members.set(name, this.scan('members' in wanted ? (wanted.members[name] ?? true) : true))
    }
    this.#at++
    return members
  }

  /** Scans a name and the colon after it; undefined for one that nobody wants, which is not copied. */
  #name(wanted: Wanted, found: number): string | undefined {
    if (this.#peek() !== Quote) throw notJson()
    const start = this.#at + 1
    this.#at = pastString(this.#text, this.#at)
    const end = this.#at - 1
    if (this.#peek() !== Colon) throw notJson()
    this.#at++
    if ('members' in wanted) return this.#nameAmong(wanted.members, start, end)
    const isWanted = found < wanted.most && this.#isAt(wanted.prefix, start)
    return isWanted ? this.#text.toString('utf8', start, end) : undefined
  }

  #nameAmong(names: object, start: number, end: number): string | undefined {
    for (const name in names)
      if (name.length === end - start && this.#isAt(name, start)) return name
    return undefined
  }

  #isAt(ascii: string, start: number): boolean {
    for (let index = 0; index < ascii.length; index++)
      if (this.#text[start + index] !== ascii.charCodeAt(index)) return false
    return true
  }

  /** What comes next, space aside. */
  #peek(): number {
    while (this.#sort() === Space) this.#at++
    return this.#sort()
  }

  #sort(): number {
    return SORTS[this.#text[this.#at] ?? NO_CHARACTER] as number
  }

  /** Passes over a value of any sort. */
  #pass(): undefined {
    this.#peek()
    const text = this.#text
    let [at, depth, values] = [this.#at, 0, 0]
    do {
      const sort = SORTS[text[at] ?? NO_CHARACTER] as number
      depth += DEPTHS[sort] as number
      values += VALUES[sort] as number
      at = pastToken(text, at, sort)
    } while (depth > 0)
    // Neither what ends a map nor what divides its members is a value.
    if (depth < 0 || values < 1) throw notJson()
    this.#at = at
    this.#values += values
  }
}

function pastToken(text: Buffer, start: number, sort: number): number {
  if (sort === Quote) return pastString(text, start)
  if (sort === Other) return pastScalar(text, start)
  if (sort === End) throw notJson()
  return start + 1
}

function pastScalar(text: Buffer, start: number): number {
  let at = start + 1
  while (SORTS[text[at] ?? NO_CHARACTER] === Other) at++
  return at
}

function pastString(text: Buffer, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]
    if (character === BACKSLASH) at++
    else if (character === QUOTE) return at + 1
    else if (at === start + LONG) {
      const end = plainEnd(text, at)
      if (end !== undefined) return end
    }
  }
  throw notJson()
}

/** Where a text ends that has no escape from here on: long ones are mostly payloads. */
function plainEnd(text: Buffer, at: number): number | undefined {
  const end = text.indexOf(QUOTE, at)
  return end < 0 || text.subarray(at, end).includes(BACKSLASH) ? undefined : end + 1
}
