import { isEqual } from '../../../shared/engine/json/equal.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { ObjectPort } from '../gather/ports.ts'
import type { Comparison } from './comparison.ts'

/** What the server makes of an apply that it does not store. */
export interface DryRun {
  readonly answer: KubeObject
  /** Whether it would change anything but the bookkeeping. */
  readonly differs: boolean
}

/** Asks the server what applying would make of the object. */
export async function dryRun(
  { live, wanted }: Pick<Comparison, 'live' | 'wanted'>,
  object: ObjectPort,
): Promise<DryRun> {
  const answer = await object.apply(withPreconditions(wanted, live), { isDryRun: true })
  return { answer, differs: !isEqual(withoutServerFields(live), withoutServerFields(answer)) }
}

/** The object to apply, bound to the state of live that it was planned from. */
export const withPreconditions = (desired: KubeObject, { metadata }: KubeObject): KubeObject => ({
  ...desired,
  metadata: {
    ...desired.metadata,
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
  },
})

function withoutServerFields({ metadata, ...rest }: KubeObject) {
  const {
    managedFields: _fields,
    resourceVersion: _version,
    generation: _generation,
    ...kept
  } = metadata
  return { ...rest, metadata: kept }
}
