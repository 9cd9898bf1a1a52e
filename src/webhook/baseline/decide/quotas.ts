import { valueAt } from '../../../shared/engine/json/pointer.ts'
import type { FieldPath } from '../../../shared/engine/merge/merge-tree.ts'
import type { Gathered } from './gathered.ts'
import { ignoreFor } from './remedy.ts'

/** Quotas that go with a write, and how they would not. */
export interface LostQuotas {
  /** The text of `ignore-fields` that leaves the field as it is; undefined where the field cannot be given away. */
  readonly ignoreFields: string | undefined
}

// By which a HyperConverged has its operator make an AAQ, in v1 and in v1beta1.
const FIELDS = [
  ['spec', 'deployment', 'applicationAwareConfig', 'enable'],
  ['spec', 'enableApplicationAwareQuota'],
]

/**
 * What a write costs by which we keep that field no more: the reconciler takes it away, the operator deletes its AAQ, and what AAQ
 * defines goes with that. Undefined where the field stays, released or as part of an object that is nobody's but its owner's.
 */
export function quotasLost({ write, managed, before, after }: Gathered): LostQuotas | undefined {
  const { status, tree } = managed
  if (!managed.isHco || status.kind !== 'active' || !tree) return undefined
  if (before?.kind !== 'enforce' || after?.kind !== 'enforce') return undefined
  const tokens = FIELDS.find(
    (field) => valueAt(before.desired, field) === true && valueAt(after.desired, field) !== true,
  )
  if (!tokens || after.released.some((path) => isWithin(tokens, path))) return undefined
  const path = tokens.map((field) => ({ field }))
  const pointer = `/${tokens.join('/')}`
  const drifts = [{ path, pointer, kind: 'missing', found: true, wanted: undefined }] as const
  const edit = { object: write.incoming, baseline: status.baseline, tree, drifts }
  return { ignoreFields: ignoreFor(edit) }
}

const isWithin = (tokens: readonly string[], path: FieldPath) =>
  path.every((step, at) => 'field' in step && step.field === tokens[at])
