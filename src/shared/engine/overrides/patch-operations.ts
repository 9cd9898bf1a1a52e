import { parseJson } from '../json/json.ts'
import { isMap, type JsonMap } from '../json/object.ts'
import { formatPointer, holdsReservedName, parsePointer } from '../json/pointer.ts'
import { err, ok, type Result } from '../result.ts'
import { excessOver, MAX_OVERRIDE_LENGTH } from './override-names.ts'

const MAX_OPERATIONS = 1_000

/** What is wrong with a patch and the way out, the pointer that it is about, and which operation it is, counted from 0. */
export interface Fault {
  readonly what: string
  readonly pointer?: string
  readonly operation?: number
}

export type Tokens = readonly string[]
export type Op = 'add' | 'copy' | 'move' | 'remove' | 'replace' | 'test'

/** An operation as it was read; `from` and `value` mean something only where its `op` has them. */
export interface Operation {
  readonly op: Op
  readonly path: Tokens
  readonly from: Tokens
  readonly value: unknown
}

/** The members of each operation beside `op`. */
const OPERATIONS: readonly (readonly [op: Op, members: readonly string[]])[] = [
  ['add', ['path', 'value']],
  ['copy', ['from', 'path']],
  ['move', ['from', 'path']],
  ['remove', ['path']],
  ['replace', ['path', 'value']],
  ['test', ['path', 'value']],
]

/** Reads the annotation's text, or says all that is wrong with its form. */
export function readOperations(text: string): Result<readonly Operation[], readonly Fault[]> {
  const entries = readList(text)
  if (!entries.ok) return err([{ what: `the patch ${entries.error}` }])
  const operations: Operation[] = []
  const faults: Fault[] = []
  for (const [index, entry] of entries.value.entries()) {
    const operation = readOperation(entry)
    if (operation.ok) operations.push(operation.value)
    else faults.push({ ...operation.error, operation: index })
  }
  return faults.length === 0 ? ok(operations) : err(faults)
}

function readList(text: string): Result<readonly unknown[], string> {
  const excess = excessOver(MAX_OVERRIDE_LENGTH, text)
  if (excess !== undefined) return err(excess)
  const list = parseJson(text)
  if (!list.ok) return err(`must be strict JSON: ${list.error}`)
  if (!Array.isArray(list.value)) return err('must be a list of operations: [{"op": …}, …]')
  return list.value.length > MAX_OPERATIONS
    ? err('must not have more than 1,000 operations')
    : ok(list.value)
}

function readOperation(entry: unknown): Result<Operation, Fault> {
  if (!isMap(entry)) return err({ what: 'an operation must be a map: {"op": …, "path": …}' })
  const known = OPERATIONS.find(([name]) => name === entry.op)
  if (!known) return err({ what: '"op" must be add, copy, move, remove, replace or test' })
  const [op, members] = known
  const given = Object.keys(entry).filter((name) => name !== 'op')
  if (given.length !== members.length || !members.every((name) => given.includes(name))) {
    return err({ what: `${op} must have "op", "${members.join('", "')}" and nothing else` })
  }
  const path = readPointer(entry, 'path')
  if (!path.ok) return path
  const from = members.includes('from') ? readPointer(entry, 'from') : ok([])
  if (!from.ok) return from
  const value = entry.value
  if (holdsReservedName(value)) {
    const what = 'rename the member called __proto__, constructor or prototype in the value'
    return err({ what, pointer: formatPointer(path.value) })
  }
  return ok({ op, path: path.value, from: from.value, value })
}

function readPointer(entry: JsonMap, member: string): Result<Tokens, Fault> {
  const text = entry[member]
  if (typeof text !== 'string') return err({ what: `"${member}" must be a JSON pointer` })
  const tokens = parsePointer(text)
  return tokens.ok ? tokens : err({ what: `"${member}" ${tokens.error}`, pointer: text })
}
