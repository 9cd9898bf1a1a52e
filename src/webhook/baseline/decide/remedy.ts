import type { Operation } from 'fast-json-patch'
import { LRUCache } from 'lru-cache'
import {
  IGNORE_FIELDS,
  lengthProblem,
  OVERRIDES,
  PATCH,
} from '../../../shared/baseline/annotations.ts'
import { printableJson } from '../../../shared/baseline/kubectl.ts'
import { applyPatch, plan } from '../../../shared/baseline/planner.ts'
import { formatValue } from '../../../shared/engine/format-value.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import { isDeeper } from '../../../shared/engine/json/json.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import { MAX_DEPTH } from '../../../shared/engine/json/pointer.ts'
import { type Drift, drift } from '../../../shared/engine/merge/merge.ts'
import type { FieldPath, MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { pointersOf } from '../../../shared/engine/merge/pointer-of.ts'
import { editOperations } from './edit-operations.ts'
import { refusalOf } from './refusal.ts'

/** The annotations that make an edit legitimate; each is planned by before it is told, so that it is seen to work. */
export interface Remedy {
  /** The text of `patch`, or why none is told. */
  readonly patch: PatchRemedy
  /** The text of `ignore-fields`; undefined where the fields cannot be given away. */
  readonly ignoreFields: string | undefined
  /** Whether the writer left other fields out, which stay: the remedy is for those that he wrote. */
  readonly isPartial?: boolean
}
export type PatchRemedy =
  | { readonly kind: 'none' | 'long' | 'secret' }
  | { readonly kind: 'annotation'; readonly text: string }
  /** No annotation helps: the schema of the kind takes no such edit, as the text says. */
  | { readonly kind: 'refused'; readonly why: string }

/** An edit that its author wants to keep: the object with it, and where it differs from what is desired. */
export interface Edit {
  readonly object: KubeObject
  readonly baseline: KubeObject
  readonly tree: MergeTree
  readonly drifts: readonly Drift[]
  readonly isSensitive?: boolean
  /** What the schema of the kind says of values; undefined where that is not known. */
  readonly values?: unknown
}

// No command for more edits would be short enough to be shown, and making it takes its time.
const MAX_EDITS = 64
/** No message has room for more. */
const LONGEST_PATCH = 2_048

/** The remedy for an edit; `ignore-fields` where there is no patch, or where both are asked for. */
export function remedyFor(edit: Edit, areBothTold: boolean): Remedy {
  const isMany = edit.drifts.length > MAX_EDITS
  const why = isMany ? undefined : refusalOf(edit.values, edit.object, edit.drifts)
  if (why !== undefined) return { patch: { kind: 'refused', why }, ignoreFields: undefined }
  const patch = patchRemedy(edit)
  const isIgnoreTold = !isMany && (areBothTold || patch.kind === 'none')
  return { patch, ignoreFields: isIgnoreTold ? ignoreRemedy(edit).text : undefined }
}

/**
 * What somebody meant by a write that leaves fields out: those that he wrote otherwise, where there are any. What the API
 * server has put in the place of a field counts as left out.
 */
export function writtenIn(
  drifts: readonly Drift[],
  defaults: Readonly<Record<string, unknown>>,
): readonly Drift[] {
  const isWritten = ({ kind, pointer, found }: Drift) =>
    kind === 'different' && !(Object.hasOwn(defaults, pointer) && isEqual(found, defaults[pointer]))
  if (!drifts.some(({ kind }) => kind === 'missing')) return drifts
  const written = drifts.filter(isWritten)
  return written.length > 0 ? written : drifts
}

const ignoreRemedy = cachedPerEdit((edit) => ({ text: ignoreFor(edit) }))

const patchRemedy = cachedPerEdit((edit): PatchRemedy => {
  if (edit.isSensitive) return { kind: 'none' }
  if (edit.drifts.length > MAX_EDITS) return { kind: 'long' }
  const text = patchFor(edit)
  if (text === undefined) return { kind: 'none' }
  if (text.length > LONGEST_PATCH) return { kind: 'long' }
  return isShowable(text) ? { kind: 'annotation', text } : { kind: 'secret' }
})

// A command that repeats a secret would print it on a terminal and in a log.
const isShowable = (patch: string) =>
  (JSON.parse(patch) as readonly { path: string; value?: unknown }[]).every(({ path, value }) =>
    isDiscreet(path, value),
  )

const HIDDEN = /\(hidden\)|\(payload\)|\(a payload of /

/** Whether a message that repeats the value in full would print no secret or payload. */
export const isDiscreet = (pointer: string, value: unknown) =>
  value === undefined || !HIDDEN.test(formatValue(pointer, value, Number.MAX_SAFE_INTEGER))

/**
 * The `patch` annotation under which exactly this edit is legitimate: operations on the baseline, after
 * those of a patch that the object already carries. Undefined where no patch can say it.
 */
export function patchFor(edit: Edit): string | undefined {
  const { object, baseline, tree, drifts } = edit
  const desired = patchedBaseline(edit)
  const operations = desired && editOperations({ tree, desired, object, drifts })
  if (!operations) return undefined
  const before = JSON.parse(annotationOf(object, PATCH) ?? '[]') as readonly Operation[]
  const all = compacted(baseline, before, operations)
  // Nothing is gained by making megabytes printable that no annotation may have.
  if (lengthProblem(PATCH, JSON.stringify(all)) !== undefined) return undefined
  const text = printableJson(all)
  return isGranted(edit, PATCH, text) ? text : undefined
}

/** The operations before with the new ones, which replace those on the same path where that comes to the same. */
function compacted(
  baseline: KubeObject,
  before: readonly Operation[],
  operations: readonly Operation[],
): readonly Operation[] {
  const all = [...before, ...operations]
  const paths = new Set(operations.map(({ path }) => path))
  const kept = before.filter(({ path }) => !paths.has(path))
  if (kept.length === before.length) return all
  const replaced = new Set(before.map(({ path }) => path))
  // What only the patch had added needs no removal once it is not added.
  const needed = operations.filter(({ op, path }) => op !== 'remove' || !replaced.has(path))
  const isSame = (shorter: readonly Operation[]) =>
    isEqual(resultOf(baseline, shorter), resultOf(baseline, all))
  return (
    [
      [...kept, ...needed],
      [...kept, ...operations],
    ].find(isSame) ?? all
  )
}

const resultOf = (baseline: KubeObject, operations: readonly Operation[]) => {
  const patched = applyPatch(baseline, JSON.stringify(operations))
  return patched.ok ? patched.value : undefined
}

/**
 * The `ignore-fields` annotation that gives these fields to whoever sets them, along with those already
 * given. Undefined where they cannot be given away.
 */
export function ignoreFor(edit: Edit): string | undefined {
  const desired = patchedBaseline(edit)
  const pointerIn = pointersOf(edit.tree, desired)
  const released = edit.drifts
    .map(({ path }) => pointerIn(releasable(path)))
    .filter((pointer) => pointer !== undefined)
  const existing = pointersIn(annotationOf(edit.object, IGNORE_FIELDS) ?? '')
  const pointers = [...new Set([...existing, ...released])]
  const isListable = pointers.every((pointer) => LISTABLE.test(pointer))
  const text = isListable ? pointers.join(',') : printableJson(pointers)
  return isGranted(edit, IGNORE_FIELDS, text) ? text : undefined
}

// A comma ends a pointer in a list, and what cannot be printed as it is needs JSON's escapes.
const LISTABLE = /^[^,\s\p{C}]+$/u

const pointersIn = (text: string): readonly string[] =>
  text.trim().startsWith('[')
    ? (JSON.parse(text) as readonly string[])
    : text.split(',').flatMap((pointer) => pointer.trim() || [])

/** A list item cannot be given away without the key that it is known by, so all of it is. */
const releasable = (path: FieldPath): FieldPath => {
  const [item, last] = path.slice(-2)
  const isKey =
    item && last && 'key' in item && 'field' in last && Object.hasOwn(item.key, last.field)
  return isKey ? path.slice(0, -1) : path
}

function patchedBaseline({ object, baseline, isSensitive }: Edit): KubeObject | undefined {
  const existing = isSensitive ? undefined : annotationOf(object, PATCH)
  if (existing === undefined) return baseline
  const patched = applyPatch(baseline, existing)
  return patched.ok ? patched.value : undefined
}

/** Whether the object would be let be at these fields, if it carried the annotation. */
function isGranted(
  { object, baseline, tree, drifts, isSensitive = false }: Edit,
  key: string,
  value: string,
): boolean {
  const { metadata } = object
  const annotations = { ...metadata.annotations, [key]: value }
  const annotated = { ...object, metadata: { ...metadata, annotations } }
  const decision = plan({ baseline, object: annotated, tree, isSensitive })
  if (decision.kind !== 'enforce') return false
  const edited = new Set(drifts.map(({ pointer }) => pointer))
  const around = new Set(drifts.flatMap(({ pointer }) => ancestorsOf(pointer)))
  return drift(tree, annotated, decision.desired).every(
    ({ pointer }) =>
      !around.has(pointer) && !ancestorsOf(pointer).some((ancestor) => edited.has(ancestor)),
  )
}

/** The pointer itself, and every pointer that it goes through but the root. */
const ancestorsOf = (pointer: string): readonly string[] => {
  const tokens = pointer.split('/')
  return tokens.slice(1).map((_, index) => tokens.slice(0, index + 2).join('/'))
}

// Of each baseline; one edit war has few sides.
const MAX_CACHED = 16
const LONGEST_KEY = 16 << 10

/** Finds something at most once for the same edit of the same object: loops ask for nothing else. What is cached goes with its baseline. */
export function cachedPerEdit<Found extends object>(
  find: (edit: Edit) => Found,
): (edit: Edit) => Found {
  const caches = new WeakMap<KubeObject, LRUCache<string, { tree: MergeTree; found: Found }>>()
  return (edit) => {
    const { baseline, tree } = edit
    const key = keyOf(edit)
    if (key === undefined) return find(edit)
    const cache = caches.get(baseline) ?? new LRUCache({ max: MAX_CACHED })
    caches.set(baseline, cache)
    const cached = cache.get(key)
    if (cached?.tree === tree) return cached.found
    const found = find(edit)
    cache.set(key, { tree, found })
    return found
  }
}

/**
 * All that a remedy depends on beside the baseline and its schema. Undefined where it depends on more (for a field that is
 * gone, on the rest of the object), or is too large to be kept.
 */
function keyOf({ object, drifts }: Edit): string | undefined {
  if (drifts.some(({ kind, found }) => kind === 'missing' || isDeeper(found, MAX_DEPTH)))
    return undefined
  const overrides = OVERRIDES.map((key) => annotationOf(object, key))
  const key = JSON.stringify([overrides, drifts.map(({ path, found }) => [path, found])])
  return key.length > LONGEST_KEY ? undefined : key
}
