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
import { PAUSE_FIELD_MANAGER, RECONCILE_PAUSED } from '../../shared/engine/overrides/annotations.ts'
import { withPreconditions } from './decide/comparison.ts'
import type { AssetInput, DryRun, Final, Step, Write } from './decide/decision.ts'
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

/** Takes a step that a decision needs, and returns what it adds to the input. */
export async function take(step: Step, target: Target): Promise<Partial<AssetInput>> {
  switch (step.kind) {
    case 'read':
      return { live: await read(target.client, placeOf(target), target.name), isRead: true }
    case 'dryRun':
      return { dryRun: await dryRun(step.object, target) }
    case 'release': {
      const { client, name } = target
      const write = patchJson(client, placeToWrite(target), name, step.operations)
      return { live: await stored(write, target), hasReleased: true }
    }
    default:
      return step satisfies never
  }
}

async function dryRun(object: KubeObject, target: Target): Promise<DryRun> {
  try {
    return { answer: await apply(target.client, placeOf(target), object, { isDryRun: true }) }
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
  if (write.kind === 'delete') return { outcome: await remove(write.live, outcome, target) }
  return { outcome, object: await stored(send(write, target), target) }
}

function send(write: Exclude<Write, { kind: 'delete' }>, target: Target): Promise<KubeObject> {
  const { client, name } = target
  const at = placeToWrite(target)
  return write.kind === 'pause'
    ? annotate(client, at, name, { [RECONCILE_PAUSED]: 'true' }, PAUSE_FIELD_MANAGER)
    : apply(client, at, withPreconditions(write.desired, write.live))
}

async function remove(live: KubeObject, outcome: Outcome, target: Target): Promise<Outcome> {
  const deletion = await deleteExactly(target.client, placeToWrite(target), live)
  if (deletion === 'ending') return { kind: 'skipped', reason: 'Deleting' }
  return deletion === 'deleted' ? outcome : { kind: 'removed' }
}

async function stored(write: Promise<KubeObject>, { onStored }: Target): Promise<KubeObject> {
  const object = await write
  onStored(object)
  return object
}

function placeOf({ at, name }: Target): Resource {
  if (!at) throw new Error(`the kind of ${name} is not served`)
  return at
}

// Writes nothing once the Lease is somebody else's.
function placeToWrite(target: Target): Resource {
  if (!target.isLeader()) throw new Error('the Lease is no longer ours')
  return placeOf(target)
}
