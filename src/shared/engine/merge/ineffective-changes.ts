import type { KubeObject } from '../json/object.ts'
import { pathKey } from './fields-v1.ts'
import { drift } from './merge.ts'
import type { FieldPath, MergeTree } from './merge-tree.ts'
import { pointersOf } from './pointer-of.ts'

/** More than anybody reads. */
const MOST = 20

export interface IneffectiveInput {
  readonly tree: MergeTree
  readonly baseline: KubeObject
  readonly patched: KubeObject
  /** What is taken out of the patched baseline again. */
  readonly released: readonly FieldPath[]
}

/** Pointers into the patched baseline at which the patch has no effect, since what it changes there is released. */
export function ineffectiveChanges({
  tree,
  baseline,
  patched,
  released,
}: IneffectiveInput): readonly string[] {
  // Seen from either side: what the patch takes away is no leaf of what comes out.
  const drifts = [...drift(tree, baseline, patched), ...drift(tree, patched, baseline)]
  const changes = drifts.map(({ path }) => path)
  const [changed, given] = [new Set(changes.map(pathKey)), new Set(released.map(pathKey))]
  const paths = [
    ...changes.filter((path) => prefixes(path).some((name) => given.has(name))),
    // Of an item that the patch has put there only a part may be released.
    ...released.filter((path) => prefixes(path.slice(0, -1)).some((name) => changed.has(name))),
  ]
  const pointerIn = pointersOf(tree, patched)
  const distinct = [...new Map(paths.map((path) => [pathKey(path), path])).values()].slice(0, MOST)
  return [...new Set(distinct.flatMap((path) => pointerIn(path) ?? []))]
}

/** The names of the path and of all that it goes through. */
const prefixes = (path: FieldPath): readonly string[] =>
  path.map((_, depth) => pathKey(path.slice(0, depth + 1)))
