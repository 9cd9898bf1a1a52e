import type { EventInput } from '../../shared/cluster/events.ts'
import { cut, escapeControls } from '../../shared/engine/format-value.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import type { Drift } from '../../shared/engine/merge/merge.ts'
import { type AdmissionResponse, allowed, denied, patched } from '../server/review.ts'
import { type Referee, type War, warRemark } from './contests/referee.ts'
import type { Knowledge, ManagedObject } from './knowledge.ts'
import { judge } from './verdict/judge.ts'
import type { Fault, Write } from './verdict/judge-annotations.ts'
import { comparable } from './verdict/judge-content.ts'
import { judgeDelete } from './verdict/judge-delete.ts'
import type { Corrected, Denied, JudgeContext, Verdict } from './verdict/verdict.ts'
import { deletionDenial, deletionWarnings } from './words/deletion-messages.ts'
import { effectNotes } from './words/effect-notes.ts'
import {
  correctionWarnings,
  driftDenial,
  faultDenial,
  noteWarnings,
  oversizedDenial,
} from './words/messages.ts'
import { ownerNotes } from './words/owner-notes.ts'

/** What is answered to one request, and what is to be told of it elsewhere. */
export interface Answer {
  readonly response: AdmissionResponse
  readonly verdict: 'allowed' | 'corrected' | 'denied'
  readonly reason: string
  /** The fields that the writer moved, where an event is to tell of them. */
  readonly prevented?: readonly Drift[]
  /** What became of the write as one of many that move a managed field. */
  readonly war?: War
}

export interface WriteContext extends JudgeContext {
  readonly referee: Referee
  /** How long a war lasts after its last contest, milliseconds. */
  readonly quietMs: number
}

/** Answers a create or an update, in the entry that may still change the object. */
export function answerWrite(write: Write, managed: ManagedObject, context: WriteContext): Answer {
  const { verdict, war } = context.referee(judge(write, managed, context), comparable(write))
  const isRefused = war?.ruling.kind === 'refused'
  const remark = isRefused ? warRemark(war, context.quietMs) : undefined
  const answer = answerVerdict(verdict, write, managed, context, remark)
  return war ? { ...answer, war } : answer
}

function answerVerdict(
  verdict: Verdict,
  write: Write,
  managed: ManagedObject,
  context: JudgeContext,
  remark?: string,
): Answer {
  const { kind, reason } = verdict
  const { incoming } = write
  const { knowledge } = context
  switch (kind) {
    case 'allowed': {
      const owners = reason === 'InSync' ? ownerNotes(write, managed, knowledge) : []
      const effects = isInForce(reason, managed) ? effectNotes(write, managed, knowledge) : []
      const notes = noteWarnings([...owners, ...effects, ...verdict.notes], incoming)
      return { response: withWarnings(allowed(), notes), verdict: kind, reason }
    }
    case 'corrected': {
      const stored = { ...write, incoming: verdict.corrected }
      const effects = effectNotes(stored, managed, knowledge)
      const warnings = correctionWarnings(verdict, managed, write, effects)
      const response = audited(
        withWarnings(patched(verdict.operations), warnings),
        verdict,
        managed,
      )
      return { response, verdict: kind, reason, ...preventedBy(verdict) }
    }
    case 'denied': {
      if ('problems' in verdict) return answerFault(verdict, managed, incoming)
      if (verdict.reason === 'Oversized') {
        const response = denied(422, oversizedDenial(managed, incoming))
        return { response: audited(response, verdict, managed), verdict: kind, reason }
      }
      const response = refusal(verdict, managed, incoming, context, remark)
      return {
        response: audited(response, verdict, managed),
        verdict: kind,
        reason,
        ...preventedBy(verdict),
      }
    }
  }
}

// What the HyperConverged asks for of others is in force even where it is nobody's but its owner's.
const isInForce = (reason: string, { isHco }: ManagedObject) =>
  isHco || reason === 'InSync' || reason === 'Pending'

/**
 * Answers a create or an update, in the entry that sees it last: whoever came after the mutating entry,
 * a judged field must have its value.
 */
export function answerFinally(write: Write, managed: ManagedObject, context: JudgeContext): Answer {
  const verdict = judge(write, managed, context)
  const { incoming } = write
  if (verdict.kind === 'corrected' && !incoming.metadata.deletionTimestamp) {
    const late = { kind: 'denied', reason: 'NotCorrected', drifts: verdict.putBack } as const
    const { target } = verdict
    const response = refusal({ ...late, target }, managed, incoming, context, NOT_CORRECTED)
    return { response: audited(response, late, managed), verdict: 'denied', reason: late.reason }
  }
  if (verdict.kind === 'denied') return answerVerdict(verdict, write, managed, context)
  return { response: allowed(), verdict: 'allowed', reason: verdict.reason }
}

const NOT_CORRECTED =
  ' The correction did not last: another admission webhook changed the object after ours, or ours was not reached. Write again.'

/** Answers a write whose annotations are refused. */
export function answerFault(
  fault: Fault,
  { asset }: Pick<ManagedObject, 'asset'>,
  incoming: KubeObject,
): Answer {
  const { reason } = fault
  const { message, causes } = faultDenial(fault, incoming)
  const response = denied(reason === 'PatchBlocked' ? 403 : 422, message, causes)
  return {
    response: audited(response, { kind: 'denied', reason }, { asset }),
    verdict: 'denied',
    reason,
  }
}

/** Answers a deletion. */
export function answerDeletion(
  old: KubeObject,
  username: string,
  managed: ManagedObject,
  knowledge: Knowledge,
): Answer {
  const verdict = judgeDelete(old, username, managed, knowledge)
  const { kind, reason } = verdict
  if (kind === 'denied') {
    const response = denied(403, deletionDenial(managed, old, knowledge))
    return { response: audited(response, verdict, managed), verdict: kind, reason }
  }
  const response = withWarnings(allowed(), deletionWarnings(verdict, managed, old, knowledge))
  return { response, verdict: kind, reason }
}

/** The event that tells which fields somebody tried to move. */
export const preventedEvent = (
  { response: { allowed: isStored } }: Answer,
  drifts: readonly Drift[],
  subject: KubeObject,
  username: string,
): EventInput => {
  const pointers = drifts.slice(0, 5).map(({ pointer }) => pointer)
  const more = drifts.length > 5 ? ` and ${drifts.length - 5} more` : ''
  const end = isStored ? 'put back, the rest is stored' : 'refused, nothing is stored'
  const note = `the change of ${pointers.join(', ')}${more} by ${username}: ${end}`
  return { subject, type: 'Normal', reason: 'DriftPrevented', note: cut(note, 1_000) }
}

const preventedBy = ({ reason, drifts }: Corrected | Denied) =>
  reason === 'Drift' ? { prevented: drifts } : {}

const refusal = (
  verdict: Pick<Denied, 'drifts' | 'target'>,
  managed: ManagedObject,
  incoming: KubeObject,
  { knowledge }: JudgeContext,
  remark?: string,
) => denied(403, driftDenial(verdict, managed, incoming, knowledge.facts, remark))

const withWarnings = (
  response: AdmissionResponse,
  warnings: readonly string[],
): AdmissionResponse => (warnings.length > 0 ? { ...response, warnings } : response)

interface Audited {
  readonly kind: string
  readonly reason: string
  readonly drifts?: readonly Drift[]
}

/** The response with what the API server's audit log is to say of the decision. */
function audited(
  response: AdmissionResponse,
  { kind, reason, drifts = [] }: Audited,
  { asset }: Pick<ManagedObject, 'asset'>,
): AdmissionResponse {
  const pointers = drifts.slice(0, 5).map(({ pointer }) => escapeControls(pointer))
  return {
    ...response,
    auditAnnotations: {
      verdict: kind,
      reason,
      asset: asset.name,
      ...(pointers.length > 0 && { pointers: cut(pointers.join(','), 1_000) }),
    },
  }
}
