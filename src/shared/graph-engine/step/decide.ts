import type { KubeObject } from '../../engine/json/object.ts'
import { lostFields } from '../drift.ts'
import { bounded } from '../failure.ts'
import { hashOf, type InventoryItem } from '../inventory.ts'
import { type GraphNode, keyOf, refOf, titleOf } from '../node.ts'
import { describeVerdict, verdictOf, withMarks } from '../ownership.ts'
import { nodeReadiness } from '../readiness/predicates.ts'
import { describeTermination } from '../readiness/readiness.ts'
import type { ApplyAction, ApplyReason } from './action.ts'
import type { Blocker, NodePhase, NodeState } from './node-state.ts'
import type { StepInput } from './step.ts'

/** What a pass makes of one node. */
export interface Decision {
  readonly state: NodeState
  readonly action?: ApplyAction
  /** The live object is what the node asks for, as far as it is ours to say. */
  readonly isApplied: boolean
  /** It is ready, and so is all that it depends on: what depends on it may go on. */
  readonly isSatisfied: boolean
  /** It has nothing wrong itself: others are to be ready first. */
  readonly isWaiting: boolean
  /** The node at the root of its waiting; itself where it waits for no other. */
  readonly blocker: Blocker
  readonly lookAgainAt?: number
}

export type DecideInput = Pick<StepInput, 'observed' | 'owner' | 'names' | 'now' | 'digest'> & {
  readonly item: InventoryItem | undefined
  readonly fieldManager: string
  /** The root of what it has to wait for; undefined when all its dependencies are satisfied. */
  readonly waitsFor: Blocker | undefined
}

/** Decides about one node: nothing to do, wait, or apply. */
export function decide(node: GraphNode, input: DecideInput): Decision {
  const key = keyOf(refOf(node.object))
  const observation = input.observed.objects.get(key)
  const found = (phase: NodePhase, message: string) => decision(node, input, { phase, message })
  if (!observation)
    return found(input.item?.state === 'Applied' ? 'Applied' : 'Pending', 'has not been read yet')
  if (observation.state === 'unreadable')
    return found('Error', `cannot be read: ${observation.reason}`)
  if (observation.state === 'absent')
    return applyWhenDue(node, input, { reason: 'Absent', fields: [] })
  return decideLive(node, input, observation.object)
}

function decideLive(node: GraphNode, input: DecideInput, live: KubeObject): Decision {
  const { metadata } = live
  if (metadata.deletionTimestamp)
    return decision(node, input, { phase: 'Terminating', message: describeTermination(live) })
  const verdict = verdictOf(live, input.owner, input.names, input.item?.uid)
  if (verdict.kind === 'owned' || verdict.kind === 'foreign')
    return decision(node, input, { phase: 'Error', message: describeVerdict(verdict) })
  const need = needOf(node, input, live, verdict.kind === 'restored')
  return need ? applyWhenDue(node, input, need, live) : settled(node, input, live)
}

interface Need {
  readonly reason: ApplyReason
  readonly fields: readonly string[]
}

/** Why a live object of ours must be applied again; undefined where it need not. */
function needOf(
  { object, applyPolicy }: GraphNode,
  { item, owner, names, digest, fieldManager }: DecideInput,
  live: KubeObject,
  isRestored: boolean,
): Need | undefined {
  if (applyPolicy?.mode === 'Create') return undefined
  if (item?.hash !== hashOf(object, digest)) return { reason: 'Changed', fields: [] }
  if (isRestored) return { reason: 'Restored', fields: [] }
  const fields = lostFields(withMarks(object, owner, names, digest), live, fieldManager)
  const isSettled = fields.length === 0 && item.state !== 'Failed' && item.state !== 'Pending'
  return isSettled ? undefined : { reason: 'Drifted', fields }
}

function applyWhenDue(
  node: GraphNode,
  input: DecideInput,
  need: Need,
  live?: KubeObject,
): Decision {
  const { observed, waitsFor, now, digest } = input
  if (waitsFor) return decision(node, input, { phase: 'Pending', message: describeWait(waitsFor) })
  const hash = hashOf(node.object, digest)
  const { failure, heldUntil = 0 } = observed.memory.get(keyOf(refOf(node.object))) ?? {}
  const failed = failure?.hash === hash ? failure : undefined
  if (failed && failed.retryAt > now)
    return decision(node, input, { phase: 'Error', message: failed.message }, failed.retryAt)
  if (need.reason !== 'Changed' && heldUntil > now)
    return decision(node, input, { phase: 'Error', message: describeHold(need) }, heldUntil)
  // The phase of one that failed stays until it succeeds: status must not change at each try.
  const state = failed
    ? { phase: 'Error' as const, message: failed.message }
    : { phase: 'Applying' as const, message: 'is being applied' }
  return { ...decision(node, input, state), action: actionFor(node, input, need, hash, live) }
}

const describeWait = ({ object, message }: Blocker) => `waits for ${object}: ${message}`

const FIELDS_SHOWN = 3

const describeHold = ({ fields }: Need) =>
  `others keep changing ${fields.slice(0, FIELDS_SHOWN).join(', ') || 'it'}: it is left alone for a while`

function actionFor(
  { id, object, applyPolicy }: GraphNode,
  { item, owner, names, digest, fieldManager }: DecideInput,
  { reason, fields }: Need,
  hash: string,
  live: KubeObject | undefined,
): ApplyAction {
  const marked = withMarks(object, owner, names, digest)
  const { uid, resourceVersion } = live?.metadata ?? {}
  return {
    kind: 'apply',
    key: keyOf(refOf(object)),
    id,
    reason,
    ...(fields.length > 0 && { fields }),
    object: {
      ...marked,
      metadata: {
        ...marked.metadata,
        ...(uid && { uid }),
        ...(resourceVersion && { resourceVersion }),
      },
    },
    fieldManager,
    // What was applied before is ours, and taken back. What is new may be somebody's; where nothing was seen, so may the object be.
    isForced: !!live && (applyPolicy?.conflictPolicy === 'Force' || item?.hash === hash),
    hash,
  }
}

const PHASES = {
  Ready: 'Ready',
  InProgress: 'WaitingReady',
  Failed: 'Error',
  Terminating: 'Terminating',
} as const

function settled(node: GraphNode, input: DecideInput, live: KubeObject): Decision {
  const appliedAt = input.observed.memory.get(keyOf(refOf(node.object)))?.appliedAt
  const readiness = nodeReadiness(live, node.readyWhen ?? [], appliedAt, input.now)
  const phase = PHASES[readiness.state]
  const state = {
    phase,
    message: phase === 'Ready' ? '' : readiness.message,
    readyDetails: bounded(readiness.message),
  }
  const isSatisfied = phase === 'Ready' && !input.waitsFor
  return { ...decision(node, input, state, readiness.lookAgainAt), isApplied: true, isSatisfied }
}

/** A node that is not as it ought to be, or at least not known to be. */
function decision(
  { id, object }: GraphNode,
  { observed, waitsFor }: DecideInput,
  found: NodeState,
  lookAgainAt?: number,
): Decision {
  const ref = refOf(object)
  const appliedAt = observed.memory.get(keyOf(ref))?.appliedAt
  const message = bounded(found.message)
  const root = found.phase === 'Pending' || found.phase === 'Ready' ? waitsFor : undefined
  return {
    state: { ...found, message, ...(appliedAt !== undefined && { appliedAt }) },
    isApplied: false,
    isSatisfied: false,
    isWaiting: root !== undefined,
    blocker: root ?? { id, object: titleOf(ref), message },
    ...(lookAgainAt !== undefined && { lookAgainAt }),
  }
}
