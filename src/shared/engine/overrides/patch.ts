import jsonpatch from 'fast-json-patch'
import { isEqual } from '../json/equal.ts'
import { byteLength, copyOf, isDeeper, MAX_VALUES, valuesIn } from '../json/json.ts'
import { isKubeObject, isMap, type JsonMap, type KubeObject, keepMembers } from '../json/object.ts'
import { formatPointer, has, isListIndex, MAX_DEPTH, valueAt } from '../json/pointer.ts'
import type { Problem } from '../problem.ts'
import { err, ok, type Result } from '../result.ts'
import type { OverrideNames } from './override-names.ts'
import {
  type Fault,
  type Op,
  type Operation,
  readOperations,
  type Tokens,
} from './patch-operations.ts'

const MAX_RESULT_BYTES = 1024 * 1024

/** More would only repeat themselves, and an answer of megabytes could get lost on its way. */
const MAX_PROBLEMS = 20

/** Applies an admin's RFC 6902 patch to a copy of the baseline: the whole patch, or none of it. */
export function applyPatch(
  baseline: KubeObject,
  text: string,
  names: OverrideNames,
): Result<KubeObject, readonly Problem[]> {
  const patched = patch(baseline, text, names)
  return patched.ok
    ? patched
    : err(patched.error.slice(0, MAX_PROBLEMS).map((fault) => problemOf(fault, names)))
}

/** What is wrong with a patch, as its author is told. */
function problemOf({ what, ...place }: Fault, { patch: annotation }: OverrideNames): Problem {
  const { pointer, operation } = place
  const at = pointer === undefined ? '' : ` at ${shortened(pointer)}`
  const message = operation === undefined ? what : `operation ${operation}${at}: ${what}`
  return { reason: 'InvalidPatch', annotation, message, ...place }
}

/** A pointer as a sentence names it. */
const shortened = (pointer: string) =>
  pointer.length > 128 ? `${pointer.slice(0, 128)}…` : pointer || 'its root'

function patch(
  baseline: KubeObject,
  text: string,
  names: OverrideNames,
): Result<KubeObject, readonly Fault[]> {
  const operations = readOperations(text)
  if (!operations.ok) return operations
  const size = byteLength(JSON.stringify(baseline))
  let draft: Draft = { document: copyOf(baseline), size, values: valuesIn(baseline) }
  for (const [index, operation] of operations.value.entries()) {
    const next = EFFECTS[operation.op](draft, operation)
    if (!next.ok) return err([{ ...next.error, operation: index }])
    draft = next.value
  }
  return judge(baseline, draft.document, names)
}

/** The copy being patched; `size` and `values` are those of the baseline and of everything put into it since. */
interface Draft {
  readonly document: unknown
  readonly size: number
  readonly values: number
}

type Effect = (draft: Draft, operation: Operation) => Result<Draft, Fault>

const EFFECTS: Readonly<Record<Op, Effect>> = {
  add: (draft, { path, value }) => put(draft, 'add', path, value),
  copy: (draft, { path, from }) =>
    absence(draft, from) ?? put(draft, 'add', path, valueAt(draft.document, from)),
  move: (draft, { path, from }) => {
    if (path.length > from.length && from.every((token, index) => token === path[index])) {
      const what = 'a value cannot move into itself: choose another path'
      return err({ what, pointer: formatPointer(path) })
    }
    const value = valueAt(draft.document, from)
    const rest = take(draft, from)
    return rest.ok ? put(rest.value, 'add', path, value) : rest
  },
  remove: (draft, { path }) => take(draft, path),
  replace: (draft, { path, value }) => absence(draft, path) ?? put(draft, 'replace', path, value),
  test: (draft, { path, value }) => absence(draft, path) ?? test(draft, path, value),
}

function put(draft: Draft, op: 'add' | 'replace', path: Tokens, value: unknown) {
  const pointer = formatPointer(path)
  const what = obstacle(draft.document, path)
  if (what !== undefined) return err({ what, pointer })
  if (isDeeper(value, MAX_DEPTH - path.length)) {
    return err({ what: `nothing may nest deeper than ${MAX_DEPTH} levels: flatten it`, pointer })
  }
  // Removing gives nothing back, so that neither memory nor time can be spent in a circle.
  const values = draft.values + valuesIn(value)
  if (values > MAX_VALUES) {
    const what = `the object and all that the patch puts into it must not have more than ${MAX_VALUES} values: put less`
    return err({ what, pointer })
  }
  const size = draft.size + byteLength(JSON.stringify([...path.slice(-1), value]))
  if (size > MAX_RESULT_BYTES) {
    const what = 'the object and all that the patch puts into it must fit in 1 MiB: put less'
    return err({ what, pointer })
  }
  const operation = { op, path: pointer, value: copyOf(value) }
  return ok({ document: applied(draft.document, operation), size, values })
}

function take(draft: Draft, path: Tokens): Result<Draft, Fault> {
  const missing = absence(draft, path)
  if (missing) return missing
  const operation = { op: 'remove', path: formatPointer(path) } as const
  return ok({ ...draft, document: applied(draft.document, operation) })
}

function test(draft: Draft, path: Tokens, value: unknown): Result<Draft, Fault> {
  // The library's own comparison stumbles over a member that is called hasOwnProperty.
  if (isEqual(valueAt(draft.document, path), value)) return ok(draft)
  const what = 'the test fails: correct its value, or leave the test out'
  return err({ what, pointer: formatPointer(path) })
}

const applied = (document: unknown, operation: jsonpatch.Operation): unknown =>
  jsonpatch.applyOperation(document, operation, true, true).newDocument

function absence({ document }: Draft, path: Tokens): Result<never, Fault> | undefined {
  const missing = path.findIndex((_, index) => !has(document, path.slice(0, index + 1)))
  if (missing === -1) return undefined
  const end = shortened(formatPointer(path.slice(0, missing)))
  const what = `the baseline, which the patch works on, ends at ${end}: correct the pointer, or add what is missing before`
  return err({ what, pointer: formatPointer(path) })
}

function obstacle(document: unknown, path: Tokens): string | undefined {
  const parent = valueAt(document, path.slice(0, -1))
  if (path.length === 0 || isMap(parent)) return undefined
  if (parent === undefined)
    return `in the baseline, which the patch works on, there is no ${shortened(formatPointer(path.slice(0, -1)))}: add that before`
  if (!Array.isArray(parent))
    return 'in the baseline, which the patch works on, its parent is neither a map nor a list: add that before'
  const last = String(path.at(-1))
  return last === '-' || (isListIndex(last) && Number(last) <= parent.length)
    ? undefined
    : 'a list takes an index up to its length, without leading zeros, or "-" for its end'
}

/** Judges what came out, not the paths: "replace /metadata" renames as surely as "/metadata/name". */
function judge(
  baseline: KubeObject,
  patched: unknown,
  { prefix }: OverrideNames,
): Result<KubeObject, readonly Fault[]> {
  if (!isMap(patched)) {
    const what = 'the patch must leave a Kubernetes object: change single fields, not the whole'
    return err([{ what, pointer: '' }])
  }
  const [before, after] = [baseline, patched].map((object) => fixedPart(object, prefix))
  const faults = jsonpatch.compare(before ?? {}, after ?? {}).map(({ path }): Fault => {
    const what = `the patch must not change ${shortened(path)}: in metadata it may set only labels and annotations outside ${prefix}, and status, apiVersion and kind stay as they are`
    return { what, pointer: path }
  })
  if (Object.hasOwn(baseline, 'spec') && !isMap(patched.spec)) {
    const what = 'the patch must leave spec a map: change or remove single fields of it'
    faults.push({ what, pointer: '/spec' })
  }
  return isKubeObject(patched) && faults.length === 0 ? ok(patched) : err(faults)
}

/** What no patch may change: everything that says which object it is and who owns it. */
function fixedPart({ apiVersion, kind, metadata, status }: JsonMap, prefix: string): JsonMap {
  const fixed = (entries: unknown = {}) =>
    isMap(entries)
      ? keepMembers(entries, (key, value) => key.startsWith(prefix) || typeof value !== 'string')
      : entries
  const fixedMetadata = isMap(metadata)
    ? { ...metadata, labels: fixed(metadata.labels), annotations: fixed(metadata.annotations) }
    : metadata
  return { apiVersion, kind, status, metadata: fixedMetadata }
}
