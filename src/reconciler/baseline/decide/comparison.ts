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
import { FIELD_MANAGER } from '../../../shared/engine/overrides/annotations.ts'
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
  /** Some of them are nobody's: they would stay for ever once nobody wants them any more. */
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

/** What applying does to the nodes; what it removes nobody but the server knows, so that it counts as the worst. */
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

function withoutServerFields({ metadata, ...rest }: KubeObject) {
  const {
    managedFields: _fields,
    resourceVersion: _version,
    generation: _generation,
    ...kept
  } = metadata
  return { ...rest, metadata: kept }
}

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

/** What an apply removes with its ownership, by the server's own answer to it: the least that names all of it. */
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
