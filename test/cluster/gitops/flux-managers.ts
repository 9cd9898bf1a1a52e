import { annotationOf, type KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'

// By their beginning, as Flux compares them: kubectl-annotate, kubectl-edit and the like are among them.
const KUBECTL = /^(kubectl|before-first-apply)/
const POLICY = 'kustomize.toolkit.fluxcd.io/ssa'

const union = (one: Loose, other: Loose): Loose =>
  Object.fromEntries(
    Object.keys({ ...one, ...other }).map((key) => [key, union(one[key] ?? {}, other[key] ?? {})]),
  )

/**
 * The JSON patch by which Flux declares what kubectl owns its own, so that its next apply removes what of it Git does not state;
 * undefined where kubectl owns nothing, or the policy of the object is to merge.
 */
export function takeoverOf(
  live: Loose,
  manifest: KubeObject,
  own: string,
): readonly object[] | undefined {
  if ([live, manifest].some((object) => annotationOf(object, POLICY) === 'Merge')) return undefined
  const entries: readonly Loose[] = live.metadata.managedFields
  const isTaken = ({ manager, subresource }: Loose) => KUBECTL.test(manager) && !subresource
  const isOwn = ({ manager, operation }: Loose) => manager === own && operation === 'Apply'
  const taken = entries.filter(isTaken)
  const [first] = [...entries.filter(isOwn), ...taken]
  if (taken.length === 0) return undefined
  const fieldsV1 = taken.reduce((fields, entry) => union(fields, entry.fieldsV1), first.fieldsV1)
  const others = entries.filter((entry) => !isTaken(entry) && !isOwn(entry))
  const value = [...others, { ...first, manager: own, operation: 'Apply', fieldsV1 }]
  return [{ op: 'replace', path: '/metadata/managedFields', value }]
}
