import type { Operation } from 'fast-json-patch'
import {
  DISABLED_RESOURCES,
  IGNORE_FIELDS,
  lengthProblem,
  MODE,
  PATCH,
} from '../../../shared/baseline/annotations.ts'
import { applyPatch, plan } from '../../../shared/baseline/planner.ts'
import type { Exclusion } from '../../../shared/baseline/settings/exclusions.ts'
import { escapeControls } from '../../../shared/engine/format-value.ts'
import {
  annotationOf,
  type KubeObject,
  type ObjectMeta,
} from '../../../shared/engine/json/object.ts'
import { type Drift, drift } from '../../../shared/engine/merge/merge.ts'
import type { FieldPath, MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { pointersOf } from '../../../shared/engine/merge/pointer-of.ts'
import { concessions } from '../verdict/concessions.ts'

// A tilde is left out: at the start of a word, or after a colon, a shell may take it for a home folder.
const PLAIN_WORD = /^[\w./:=@,+-]+$/

/** Quotes one word for a POSIX shell. */
export const quote = (word: string) =>
  PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

interface Target {
  readonly kind: string
  readonly metadata: Pick<ObjectMeta, 'name' | 'namespace'>
}

/** The kubectl command that sets an annotation. */
export function annotateCommand({ kind, metadata }: Target, key: string, value: string): string {
  const { namespace, name } = metadata
  const where = namespace ? `-n ${quote(namespace)} ` : ''
  return `kubectl annotate ${quote(kind.toLowerCase())} ${where}${quote(name)} --overwrite ${key}=${quote(value)}`
}

/** An edit that its author wants to keep: the object with it, and where it differs from what is desired. */
export interface Wish {
  readonly object: KubeObject
  readonly baseline: KubeObject
  readonly tree: MergeTree
  readonly drifts: readonly Drift[]
  readonly isSensitive?: boolean
}

/**
 * The `patch` annotation under which exactly this edit is legitimate: operations on the baseline, after
 * those of a patch that the object already carries. Undefined where no patch can say it.
 */
export function patchFor(wish: Wish): string | undefined {
  const { object, tree, drifts } = wish
  const desired = patchedBaseline(wish)
  const operations = desired && concessions({ tree, desired, object, drifts })
  if (!operations) return undefined
  const before = JSON.parse(annotationOf(object, PATCH) ?? '[]') as readonly Operation[]
  const all = [...before, ...operations]
  // Nothing is gained by making megabytes printable that no annotation may have.
  if (lengthProblem(PATCH, JSON.stringify(all)) !== undefined) return undefined
  const text = printableJson(all)
  return isGranted(wish, PATCH, text) ? text : undefined
}

/**
 * The `ignore-fields` annotation that gives these fields to whoever sets them, along with those already
 * given. Undefined where they cannot be given away.
 */
export function ignoreFor(wish: Wish): string | undefined {
  const desired = patchedBaseline(wish)
  const pointerIn = pointersOf(wish.tree, desired)
  const released = wish.drifts
    .map(({ path }) => pointerIn(releasable(path)))
    .filter((pointer) => pointer !== undefined)
  const existing = pointersIn(annotationOf(wish.object, IGNORE_FIELDS) ?? '')
  const pointers = [...new Set([...existing, ...released])]
  const isListable = pointers.every((pointer) => LISTABLE.test(pointer))
  const text = isListable ? pointers.join(',') : printableJson(pointers)
  return isGranted(wish, IGNORE_FIELDS, text) ? text : undefined
}

// A comma ends a pointer in a list, and what cannot be printed as it is needs JSON's escapes.
const LISTABLE = /^[^,\s\p{C}]+$/u

const pointersIn = (text: string): readonly string[] => {
  if (text.trim().startsWith('[')) return JSON.parse(text) as readonly string[]
  return text
    .split(',')
    .map((pointer) => pointer.trim())
    .filter((pointer) => pointer !== '')
}

/** A list item cannot be given away without the key that it is known by, so all of it is. */
const releasable = (path: FieldPath): FieldPath => {
  const [item, last] = path.slice(-2)
  const isKey =
    item && last && 'key' in item && 'field' in last && Object.hasOwn(item.key, last.field)
  return isKey ? path.slice(0, -1) : path
}

function patchedBaseline({ object, baseline, isSensitive }: Wish): KubeObject | undefined {
  const existing = isSensitive ? undefined : annotationOf(object, PATCH)
  if (existing === undefined) return baseline
  const patched = applyPatch(baseline, existing)
  return patched.ok ? patched.value : undefined
}

/** Whether the object would be let be at these fields, if it carried the annotation. */
function isGranted(
  { object, baseline, tree, drifts, isSensitive = false }: Wish,
  key: string,
  value: string,
): boolean {
  const { metadata } = object
  const annotations = { ...metadata.annotations, [key]: value }
  const annotated = { ...object, metadata: { ...metadata, annotations } }
  const decision = plan({ baseline, object: annotated, tree, isSensitive })
  if (decision.kind !== 'enforce') return false
  const wished = new Set(drifts.map(({ pointer }) => pointer))
  const around = new Set(drifts.flatMap(({ pointer }) => ancestorsOf(pointer)))
  return drift(tree, annotated, decision.desired).every(
    ({ pointer }) =>
      !around.has(pointer) && !ancestorsOf(pointer).some((ancestor) => wished.has(ancestor)),
  )
}

/** The pointer itself, and every pointer that it goes through but the root. */
const ancestorsOf = (pointer: string): readonly string[] => {
  const tokens = pointer.split('/')
  return tokens.slice(1).map((_, index) => tokens.slice(0, index + 2).join('/'))
}

/** JSON that a terminal shows as it is: JSON knows the very escapes that are put in. */
const printableJson = (value: unknown) => escapeControls(JSON.stringify(value))

/** The command that takes the whole object out of management. */
export const unmanageCommand = (target: Target) => annotateCommand(target, MODE, 'unmanaged')

/** The command that switches one asset off, along with those already switched off. */
export function excludeCommand(
  assetName: string,
  hco: Target,
  existing: readonly Exclusion[],
): string {
  const entries = existing.map((entry) => ('asset' in entry ? entry.asset : entry))
  // JSON is YAML too, and fits on the one line that a warning has.
  return annotateCommand(hco, DISABLED_RESOURCES, printableJson([...entries, assetName]))
}
