import { isEqual } from '../../../shared/engine/json/equal.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { parsePointer, valueAt } from '../../../shared/engine/json/pointer.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import { pointersOf } from '../../../shared/engine/merge/pointer-of.ts'
import type { Comparison } from './comparison.ts'

/** What an apply takes away with its ownership, by the server's own answer to it: the least that names all of it. */
export function takenAway(
  { tree, live, outgrown }: Pick<Comparison, 'tree' | 'live' | 'outgrown'>,
  answer: KubeObject,
): readonly Drift[] {
  const [before, after] = [pointersOf(tree, live), pointersOf(tree, answer)]
  const changed = outgrown.flatMap((path): readonly Drift[] => {
    const pointer = before(path)
    const found = valueIn(live, pointer)
    const wanted = valueIn(answer, after(path))
    if (pointer === undefined || isEqual(found, wanted)) return []
    return [{ path, pointer, kind: 'different', found, wanted }]
  })
  const isWithin = ({ pointer }: Drift, other: Drift) => pointer.startsWith(`${other.pointer}/`)
  return changed.filter((drift) =>
    // A container that is gone says it all; one that is still there is changed only in what it holds.
    drift.wanted === undefined
      ? !changed.some((other) => other.wanted === undefined && isWithin(drift, other))
      : !changed.some((other) => isWithin(other, drift)),
  )
}

function valueIn(object: KubeObject, pointer: string | undefined): unknown {
  const tokens = pointer === undefined ? undefined : parsePointer(pointer)
  return tokens?.ok ? valueAt(object, tokens.value) : undefined
}
