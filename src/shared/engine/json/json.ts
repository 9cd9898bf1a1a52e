import { type JSONVisitor, printParseErrorCode, visit } from 'jsonc-parser'
import { err, ok, type Result } from '../result.ts'
import { type JsonMap, mapMembers } from './object.ts'
import { MAX_DEPTH } from './pointer.ts'

/** Parses JSON and refuses what other readers take otherwise: duplicate names, deep nesting, large numbers. The error says what and where. */
export function parseJson(text: string): Result<unknown, string> {
  const mistake = firstMistake(text)
  if (mistake !== undefined) return err(mistake)
  try {
    return ok(JSON.parse(text))
  } catch {
    return err('not JSON')
  }
}

/**
 * How many values (maps, lists, scalars) an object may be made of to be judged: several times as many as the largest of
 * those that are written by hand or by operators. Some MiB of small values would take seconds and hundreds of MiB. An
 * admission review of 64 KiB is not counted: it cannot hold many more.
 */
export const MAX_VALUES = 20_000

/** How many values a JSON value is made of, itself included. */
export function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let values = 1
  for (const member of Object.values(value)) values += valuesIn(member)
  return values
}

/** A copy of a JSON value that shares nothing with it; `structuredClone` takes three times as long. */
export function copyOf<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf) as Value
  return mapMembers(value as JsonMap, copyOf) as Value
}

/** Whether more than `limit` maps and lists lie inside one another; it looks no deeper than that. */
export const isDeeper = (value: unknown, limit: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (limit === 0 || Object.values(value).some((member) => isDeeper(member, limit - 1)))

/** The size in bytes of text as UTF-8. */
export const byteLength = (text: string) => Buffer.byteLength(text)

/** Names the first thing wrong with the text without showing its values. */
function firstMistake(text: string): string | undefined {
  try {
    // A visitor has no other way to stop than to throw. It stops the reader at `MAX_DEPTH` too, which
    // calls itself for every level of nesting.
    visit(text, strictVisitor(), { disallowComments: true, allowTrailingComma: false })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

type Position = readonly [
  offset: number,
  length: number,
  line: number,
  character: number,
  ...unknown[],
]

const refuse = (what: string, [offset, , line, character]: Position): never => {
  throw new Error(`${what} at offset ${offset} (line ${line + 1}, column ${character + 1})`)
}

function strictVisitor(): JSONVisitor {
  // One set of member names for each map that is open; a list keeps an empty one.
  const open: Set<string>[] = []
  const enter = (...place: Position) => {
    open.push(new Set())
    if (open.length > MAX_DEPTH) refuse(`more than ${MAX_DEPTH} levels of nesting`, place)
  }
  const leave = () => {
    open.pop()
  }
  return {
    onObjectBegin: enter,
    onObjectProperty: (name, ...place) => {
      const names = open.at(-1)
      if (names?.has(name)) refuse(`duplicate member ${shown(name)}`, place)
      names?.add(name)
    },
    onObjectEnd: leave,
    onArrayBegin: enter,
    onArrayEnd: leave,
    onLiteralValue: (value: unknown, ...place) => {
      if (typeof value === 'number' && !isExact(value))
        refuse('number too large to be kept exactly', place)
    },
    onError: (code, ...place) => refuse(inWords(printParseErrorCode(code)), place),
  }
}

/** Whether the value holds a number that JavaScript could not read exactly: written again, it would be another. */
export const holdsInexact = (value: unknown): boolean =>
  typeof value === 'number'
    ? !isExact(value)
    : typeof value === 'object' && value !== null && Object.values(value).some(holdsInexact)

/** Whether JavaScript holds the number exactly as far as whole numbers go; NaN and infinities it does not. */
export const isExact = (value: number) =>
  Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value))

const shown = (name: string) => JSON.stringify(name.slice(0, 64))

/** `CommaExpected` as people write it. */
const inWords = (code: string) => code.replace(/\B[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
