import { FIELD_MANAGER } from '../../../shared/baseline/annotations.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import { withLivePayloads } from '../../../shared/baseline/machine-config/live-payloads.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { type Drift, drift, merge } from '../../../shared/engine/merge/merge.ts'
import type { FieldPath, MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { isSomeOrphaned, ownership } from '../../../shared/engine/merge/ownership.ts'
import { contentDigest } from '../../../shared/ops/digest.ts'
import type { ReconcileDeps } from '../gather/ports.ts'

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
  /** Fields that we own and no longer have an opinion on: an apply takes them away. */
  readonly outgrown: readonly FieldPath[]
  /** Live is as it will be once fields are released, which the server does not know yet. */
  readonly isReleasing: boolean
}

export interface ComparisonInput extends Pick<Comparison, 'tree' | 'live' | 'isReleasing'> {
  readonly desired: KubeObject
}

/** Compares a stored object with desired; nothing is asked of the cluster. */
export const compare = ({ tree, live, desired, isReleasing }: ComparisonInput): Comparison => {
  const wanted = withLivePayloads(desired, live, contentDigest)
  const { missing, extra } = ownership(tree, live, wanted, FIELD_MANAGER)
  return {
    tree,
    live,
    wanted,
    drifts: drift(tree, live, wanted),
    isDisowned: missing.length > 0,
    isOrphaned: isSomeOrphaned(live, missing),
    outgrown: extra,
    isReleasing,
  }
}

/** What applying does to the nodes; what it takes away nobody but the server knows, so that it counts as the worst. */
export function effectsOf(
  { tree, live, wanted, outgrown }: Comparison,
  { classify }: ReconcileDeps,
): Classification {
  const { effect, reasons } = classify({ live, desired: merge(tree, live, wanted) })
  return outgrown.length > 0
    ? { effect: 'reboot', reasons: ['fields removed', ...reasons] }
    : { effect, reasons }
}
