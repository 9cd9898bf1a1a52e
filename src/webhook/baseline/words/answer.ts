import { cut, escapeControls } from '../../../shared/engine/format-value.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import { type AdmissionResponse, allowed, denied, patched } from '../../server/review.ts'
import type { Contest } from '../contests/contest-limiter.ts'
import type { Gathered } from '../decide/gathered.ts'
import type { DeletionVerdict } from '../decide/judge-deletion.ts'
import type { Fault, Verdict } from '../decide/verdict.ts'
import type { ManagedObject, Snapshot } from '../snapshot.ts'
import { deletionDenial, deletionWarnings } from './deletion-messages.ts'
import {
  correctionWarnings,
  driftDenial,
  faultDenial,
  noteWarnings,
  oversizedDenial,
} from './messages.ts'
import { effectNotes } from './notes.ts'

/** What is answered to one request, and what is to be told of it elsewhere. */
export interface Answer {
  readonly response: AdmissionResponse
  readonly verdict: 'allowed' | 'corrected' | 'denied'
  readonly reason: string
  /** The fields that the writer moved, where an event is to tell of them. */
  readonly prevented?: readonly Drift[]
  /** What became of the write as one of many that move a managed field. */
  readonly contest?: Contest | undefined
}

/** The answer to a create or an update, in words. */
export function answerWrite(verdict: Verdict, gathered: Gathered): Answer {
  const { reason, contest } = verdict
  const answer = answered(responseTo(verdict, gathered), verdict, gathered.managed)
  const prevented = 'drifts' in verdict && reason === 'Drift' && { prevented: verdict.drifts }
  return { ...answer, ...prevented, contest }
}

function responseTo(verdict: Verdict, { write, managed, snapshot }: Gathered): AdmissionResponse {
  const { incoming } = write
  const { facts } = snapshot
  switch (verdict.kind) {
    case 'allowed': {
      const notes = [...effectNotes(verdict, managed.asset, facts), ...verdict.notes]
      return withWarnings(allowed(), noteWarnings(notes, incoming, verdict))
    }
    case 'corrected': {
      const effects = effectNotes(verdict, managed.asset, facts)
      const warnings = correctionWarnings(verdict, managed, write, effects)
      return withWarnings(patched(verdict.operations), warnings)
    }
    case 'denied': {
      if ('problems' in verdict) return responseToFault(verdict, incoming)
      return verdict.reason === 'Oversized'
        ? denied(oversizedDenial(managed, incoming))
        : denied(driftDenial(verdict, managed, incoming, facts))
    }
  }
}

const responseToFault = (fault: Fault, incoming: KubeObject) => {
  const { message, causes } = faultDenial(fault, incoming)
  return denied(message, causes)
}

/** The answer to a write whose annotations are refused before anything is known but the catalog. */
export const answerFault = (
  fault: Fault,
  managed: Pick<ManagedObject, 'asset'>,
  incoming: KubeObject,
): Answer => answered(responseToFault(fault, incoming), { kind: 'denied', ...fault }, managed)

/** The answer to a deletion, in words. */
export function answerDeletion(
  verdict: DeletionVerdict,
  old: KubeObject,
  managed: ManagedObject,
  snapshot: Snapshot,
): Answer {
  const response =
    verdict.kind === 'denied'
      ? denied(deletionDenial(managed, old, snapshot))
      : withWarnings(allowed(), deletionWarnings(verdict, managed, old, snapshot))
  return answered(response, verdict, managed)
}

const withWarnings = (
  response: AdmissionResponse,
  warnings: readonly string[],
): AdmissionResponse => (warnings.length > 0 ? { ...response, warnings } : response)

interface Audited {
  readonly kind: Answer['verdict']
  readonly reason: string
  readonly drifts?: readonly Drift[]
}

/** The answer, with what the API server's audit log is to say of it where the write is not allowed as it is. */
function answered(
  response: AdmissionResponse,
  { kind: verdict, reason, drifts = [] }: Audited,
  { asset }: Pick<ManagedObject, 'asset'>,
): Answer {
  if (verdict === 'allowed') return { response, verdict, reason }
  const pointers = drifts.slice(0, 5).map(({ pointer }) => escapeControls(pointer))
  const auditAnnotations = {
    verdict,
    reason,
    asset: asset.name,
    ...(pointers.length > 0 && { pointers: cut(pointers.join(','), 1_000) }),
  }
  return { response: { ...response, auditAnnotations }, verdict, reason }
}
