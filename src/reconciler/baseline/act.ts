import { PAUSE_FIELD_MANAGER, RECONCILE_PAUSED } from '../../shared/baseline/annotations.ts'
import { type Client, isForbidden } from '../../shared/cluster/client.ts'
import {
  annotate,
  apply,
  deleteExactly,
  patchJson,
  type Resource,
  read,
} from '../../shared/cluster/resource.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import { withPreconditions } from './decide/comparison.ts'
import { decide } from './decide/decide.ts'
import type { AssetInput, DryRun, Final, Step } from './decide/decision.ts'
import type { Outcome } from './decide/outcome.ts'

/** The one object that an asset's decision is about. */
export interface Target {
  readonly client: Client
  /** Undefined while its kind is not served. */
  readonly at: Resource | undefined
  readonly name: string
  readonly isLeader: () => boolean
  readonly isObserving: boolean
  /** Told the object as each write leaves it. */
  readonly onStored: (object: KubeObject) => void
}

/** Takes the steps that a decision needs until it is final; the input is then what it was made from. `permit` comes before each dry run. */
export async function decideInSteps(
  gathered: AssetInput,
  target: Target,
  permit: () => void,
): Promise<{ decision: Final; input: AssetInput }> {
  let input = gathered
  let decision = decide(input)
  while (decision.kind !== 'final') {
    if (decision.kind === 'dryRun') permit()
    const found = await takeStep(decision, target)
    input = { ...input, ...found }
    decision = decision.resume?.(found) ?? decide(input)
  }
  return { decision, input }
}

/** Takes a step that a decision needs, and returns what it adds to the input. */
export async function takeStep(step: Step, target: Target): Promise<Partial<AssetInput>> {
  switch (step.kind) {
    case 'read':
      return { live: await read(target.client, resourceOf(target), target.name), isRead: true }
    case 'dryRun':
      return { dryRun: await dryRun(step.object, target) }
    case 'release': {
      const { client, name } = target
      const write = patchJson(client, resourceToWrite(target), name, step.operations)
      return { live: await stored(write, target), hasReleased: true }
    }
    default:
      return step satisfies never
  }
}

async function dryRun(object: KubeObject, target: Target): Promise<DryRun> {
  try {
    return { answer: await apply(target.client, resourceOf(target), object, { isDryRun: true }) }
  } catch (error) {
    // Whoever may only look can still compare.
    if (!target.isObserving || !isForbidden(error)) throw error
    return { forbidden: error.message }
  }
}

/** What came of a decision, and the object as its write left it. */
export interface Result {
  readonly outcome: Outcome
  readonly object?: KubeObject
}

/** Makes the write of a decision, if there is one. A conflict (409) where the object changed since it was planned. */
export async function act({ outcome, write }: Final, target: Target): Promise<Result> {
  if (!write) return { outcome }
  const { client, name } = target
  const at = resourceToWrite(target)
  if (write.kind === 'delete') {
    const deletion = await deleteExactly(client, at, write.live)
    if (deletion === 'ending') return { outcome: { kind: 'skipped', reason: 'Deleting' } }
    return { outcome: deletion === 'deleted' ? outcome : { kind: 'gone' } }
  }
  const writing =
    write.kind === 'pause'
      ? annotate(client, at, name, { [RECONCILE_PAUSED]: 'true' }, PAUSE_FIELD_MANAGER)
      : apply(client, at, withPreconditions(write.desired, write.live))
  return { outcome, object: await stored(writing, target) }
}

async function stored(write: Promise<KubeObject>, { onStored }: Target): Promise<KubeObject> {
  const object = await write
  onStored(object)
  return object
}

function resourceOf({ at, name }: Target): Resource {
  if (!at) throw new Error(`the kind of ${name} is not served`)
  return at
}

// Writes nothing once the Lease is somebody else's.
function resourceToWrite(target: Target): Resource {
  if (!target.isLeader()) throw new Error('the Lease is no longer ours')
  return resourceOf(target)
}
