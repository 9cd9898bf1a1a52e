import { OVERRIDES } from '../../../shared/baseline/annotations.ts'
import { isDeeper } from '../../../shared/engine/json/json.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import { MAX_DEPTH } from '../../../shared/engine/json/pointer.ts'
import type { MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { putNewest } from '../../server/newest.ts'
import type { Wish } from './way-out.ts'

// A quarrel has few sides, and nobody quarrels about more than fits here.
const ROOM = 16
const LONGEST_KEY = 16 << 10

interface Memory<Found> {
  readonly tree: MergeTree
  readonly found: Map<string, Found>
}

/**
 * Finds a way out at most once for the same edit of the same object: loops ask for nothing else. What is remembered
 * goes with the baseline that it was found for.
 */
export function remembered<Found>(find: (wish: Wish) => Found): (wish: Wish) => Found {
  const memories = new WeakMap<KubeObject, Memory<Found>>()
  return (wish) => {
    const { baseline, tree } = wish
    const key = keyOf(wish)
    if (key === undefined) return find(wish)
    const known = memories.get(baseline)
    const memory = known?.tree === tree ? known : { tree, found: new Map<string, Found>() }
    memories.set(baseline, memory)
    const before = memory.found.get(key)
    if (before !== undefined) return before
    const fresh = find(wish)
    putNewest(memory.found, ROOM, key, fresh)
    return fresh
  }
}

/**
 * All that the way out of an edit depends on beside the baseline and its schema. Undefined where it depends on more (what
 * to concede for a field that is gone is seen in the rest of the object), or is not worth its room.
 */
function keyOf({ object, drifts }: Wish): string | undefined {
  if (drifts.some(({ kind, found }) => kind === 'missing' || isDeeper(found, MAX_DEPTH)))
    return undefined
  const overrides = OVERRIDES.map((key) => annotationOf(object, key))
  const key = JSON.stringify([overrides, drifts.map(({ path, found }) => [path, found])])
  return key.length > LONGEST_KEY ? undefined : key
}
