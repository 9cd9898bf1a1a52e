import jsonPatch, { type Operation } from 'fast-json-patch'

import { holdsInexact, isDeeper } from '../../../shared/engine/json/json.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { MAX_DEPTH, parsePointer, valueAt } from '../../../shared/engine/json/pointer.ts'
import { type Drift, drift } from '../../../shared/engine/merge/merge.ts'
import type { FieldPath, MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { pointersOf } from '../../../shared/engine/merge/pointer-of.ts'

// Nobody reads more, and each has its operation in the patch.
const MAX_EDITS = 256

/** An object that differs from what is desired. */
export interface EditedObject {
  readonly tree: MergeTree
  readonly desired: KubeObject
  readonly object: KubeObject
  /** Where it differs and may go on doing so. */
  readonly drifts: readonly Drift[]
}

/** The operations that make of desired what the object has; undefined where none can say it. */
export function editOperations({
  tree,
  desired,
  object,
  drifts,
}: EditedObject): readonly Operation[] | undefined {
  if (drifts.length > MAX_EDITS) return undefined
  const operations = new Map<string, Operation>()
  const [inDesired, inObject] = [pointersOf(tree, desired), pointersOf(tree, object)]
  for (const { path, pointer: at, found } of drifts) {
    // Among the labels ours must stay.
    const isWhole = found !== undefined || at.startsWith('/metadata/')
    const edited = isWhole ? path : outermostMissing(object, inObject, path)
    const pointer = inDesired(edited)
    // A reserved name is none that any patch may hold.
    if (pointer === undefined || !parsePointer(pointer).ok || !isRepeatable(found)) return undefined
    operations.set(pointer, operationAt(pointer, edited, found))
  }
  // From the last item of a list to the first, no removal moves what is still to be removed.
  return [...operations.values()].toReversed()
}

/** What is desired, with the object's own value at each leaf; undefined where that cannot be said. */
export function withEdits(
  tree: MergeTree,
  desired: KubeObject,
  object: KubeObject,
): KubeObject | undefined {
  const drifts = drift(tree, object, desired)
  const operations = editOperations({ tree, desired, object, drifts })
  if (!operations) return undefined
  const { newDocument } = jsonPatch.applyPatch(desired, operations, false, false)
  return drift(tree, object, newDocument).length === 0 ? newDocument : undefined
}

/** Whether a patch can say the value. */
const isRepeatable = (value: unknown) => !isDeeper(value, MAX_DEPTH) && !holdsInexact(value)

function operationAt(path: string, steps: FieldPath, value: unknown): Operation {
  if (value === undefined) return { op: 'remove', path }
  const last = steps.at(-1)
  // To add at a list's index would move the item there out of its place.
  return last && 'field' in last ? { op: 'add', path, value } : { op: 'replace', path, value }
}

/**
 * The path to the outermost container on the way that the object does not have: with its last field gone
 * an empty one would still be wanted. Never the spec, which must stay a map.
 */
function outermostMissing(
  object: KubeObject,
  pointerIn: ReturnType<typeof pointersOf>,
  path: FieldPath,
): FieldPath {
  let end = path.length
  while (end > 2 && !isContainerAt(object, pointerIn(path.slice(0, end - 1)))) end--
  return path.slice(0, end)
}

function isContainerAt(object: KubeObject, pointer = '/'): boolean {
  const tokens = parsePointer(pointer)
  const value = tokens.ok ? valueAt(object, tokens.value) : undefined
  return typeof value === 'object' && value !== null
}
