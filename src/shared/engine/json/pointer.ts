import { err, ok, type Result } from '../result.ts'

/** The deepest nesting that the engine reads, and so the longest pointer. */
export const MAX_DEPTH = 64

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const LIST_INDEX = /^(?:0|[1-9]\d*)$/
const BAD_ESCAPE = /~(?![01])/

/** Whether a value has a member, at any depth, whose name reaches a prototype in careless JavaScript. */
export const holdsReservedName = (value: unknown): boolean =>
  isContainer(value) &&
  Object.entries(value).some(([name, member]) => RESERVED.has(name) || holdsReservedName(member))

/** Splits an RFC 6901 pointer into its unescaped tokens; the error completes a sentence that starts with the pointer. */
export function parsePointer(text: string): Result<readonly string[], string> {
  if (text === '') return ok([])
  if (!text.startsWith('/')) return err('must start with "/" or be empty')
  if (BAD_ESCAPE.test(text)) return err('must write "~" as ~0 and "/" in a name as ~1')
  const tokens = text.slice(1).split('/').map(unescapeToken)
  if (tokens.length > MAX_DEPTH) return err(`must not have more than ${MAX_DEPTH} segments`)
  const reserved = tokens.find((token) => RESERVED.has(token))
  return reserved === undefined ? ok(tokens) : err(`must not have the segment "${reserved}"`)
}

/** Whether a token is written as a list's index must be. */
export const isListIndex = (token: string) => LIST_INDEX.test(token)

/** Joins unescaped tokens to an RFC 6901 pointer. */
export const formatPointer = (tokens: readonly string[]) =>
  tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Whether the pointer leads to something that the document itself holds, nothing inherited. */
export const has = (document: unknown, tokens: readonly string[]) =>
  foundAt(document, tokens) !== undefined

/** Reads what the pointer leads to; undefined where `has` says that there is nothing. */
export const valueAt = (document: unknown, tokens: readonly string[]): unknown =>
  foundAt(document, tokens)?.value

function foundAt(document: unknown, tokens: readonly string[]): { value: unknown } | undefined {
  let value = document
  for (const token of tokens) {
    if (!isContainer(value) || !holds(value, token)) return undefined
    value = value[token]
  }
  return { value }
}

const unescapeToken = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const holds = (node: object, token: string) =>
  Object.hasOwn(node, token) && (!Array.isArray(node) || isListIndex(token))
