import { FIELD_MANAGER } from '../../../shared/baseline/annotations.ts'
import {
  type Classification,
  classifyChange,
} from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { DisruptionPolicies } from '../../../shared/baseline/machine-config/disruption-policies.ts'
import { withLivePayloads } from '../../../shared/baseline/machine-config/live-payloads.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { parsePointer, valueAt } from '../../../shared/engine/json/pointer.ts'
import { type Drift, drift, merge } from '../../../shared/engine/merge/merge.ts'
import type { FieldPath, MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { isSomeOrphaned, ownership } from '../../../shared/engine/merge/ownership.ts'
import { pointersOf } from '../../../shared/engine/merge/pointer-of.ts'
import { contentDigest } from '../../../shared/ops/digest.ts'

/** A stored object beside what it is to be. */
export interface Comparison {
  readonly tree: MergeTree
  readonly live: KubeObject
  /** What is to be applied: desired, in live's own bytes where these say the same. */
  readonly wanted: KubeObject
  readonly drifts: readonly Drift[]
  /** Fields of ours that somebody else owns now, or nobody: what an admission webhook sets belongs to no one. */
  readonly isDisowned: boolean
  /** Nobody owns some of them: they would stay for ever once they are no longer desired. */
  readonly isOrphaned: boolean
  /** Fields that we own and no longer have an opinion on: an apply removes them. */
  readonly extra: readonly FieldPath[]
}

/** Compares a stored object with desired. */
export function compare(tree: MergeTree, live: KubeObject, desired: KubeObject): Comparison {
  const wanted = withLivePayloads(desired, live, contentDigest)
  const { missing, extra } = ownership(tree, live, wanted, FIELD_MANAGER)
  return {
    tree,
    live,
    wanted,
    drifts: drift(tree, live, wanted),
    isDisowned: missing.length > 0,
    isOrphaned: isSomeOrphaned(live, missing),
    extra,
  }
}

/** What applying does to the nodes. Only the server knows what it removes, so that counts as a reboot. */
export function effectsOf(
  { tree, live, wanted, extra }: Comparison,
  policies: DisruptionPolicies | undefined,
): Classification {
  const change = classifyChange({ live, desired: merge(tree, live, wanted), policies })
  return extra.length > 0
    ? { effect: 'reboot', reasons: ['fields removed', ...change.reasons] }
    : change
}

/** Whether the server's answer to a dry run changes anything of live but the bookkeeping. */
export const differs = (live: KubeObject, answer: KubeObject) =>
  !isEqual(withoutServerFields(live), withoutServerFields(answer))

const withoutServerFields = ({ metadata, ...rest }: KubeObject) => ({
  ...rest,
  metadata: { ...metadata, managedFields: null, resourceVersion: null, generation: null },
})

/** The object to apply, bound to the state of live that it was planned from. */
export const withPreconditions = (
  desired: KubeObject,
  live: KubeObject | undefined,
): KubeObject => {
  const { uid, resourceVersion } = live?.metadata ?? {}
  return {
    ...desired,
    metadata: {
      ...desired.metadata,
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  }
}

/** The fields that an apply removes, by the server's answer to a dry run: the shortest list that covers them. */
export function removedFields(
  { tree, live, extra }: Pick<Comparison, 'tree' | 'live' | 'extra'>,
  answer: KubeObject,
): readonly Drift[] {
  const [before, after] = [pointersOf(tree, live), pointersOf(tree, answer)]
  const changed = extra.flatMap((path): readonly Drift[] => {
    const pointer = before(path)
    const found = valueIn(live, pointer)
    const wanted = valueIn(answer, after(path))
    if (pointer === undefined || isEqual(found, wanted)) return []
    return [{ path, pointer, kind: 'different', found, wanted }]
  })
  const isWithin = ({ pointer }: Drift, other: Drift) => pointer.startsWith(`${other.pointer}/`)
  return changed.filter((drift) =>
    // A removed container is listed instead of its members, a kept one only through its members.
    drift.wanted === undefined
      ? !changed.some((other) => other.wanted === undefined && isWithin(drift, other))
      : !changed.some((other) => isWithin(other, drift)),
  )
}

function valueIn(object: KubeObject, pointer: string | undefined): unknown {
  const tokens = pointer === undefined ? undefined : parsePointer(pointer)
  return tokens?.ok ? valueAt(object, tokens.value) : undefined
}
