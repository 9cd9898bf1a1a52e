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
  const { kind, reason, contest } = verdict
  const response = responseTo(verdict, gathered)
  const prevented = 'drifts' in verdict && reason === 'Drift' && { prevented: verdict.drifts }
  return {
    response: kind === 'allowed' ? response : audited(response, verdict, gathered.managed),
    verdict: kind,
    reason,
    ...prevented,
    contest,
  }
}

function responseTo(verdict: Verdict, { write, managed, snapshot }: Gathered): AdmissionResponse {
  const { incoming } = write
  const { facts } = snapshot
  switch (verdict.kind) {
    case 'allowed': {
      const notes = [...effectNotes(verdict, managed.asset, facts), ...verdict.notes]
      return withWarnings(allowed(), noteWarnings(notes, incoming))
    }
    case 'corrected': {
      const effects = effectNotes(verdict, managed.asset, facts)
      const warnings = correctionWarnings(verdict, managed, write, effects)
      return withWarnings(patched(verdict.operations), warnings)
    }
    case 'denied': {
      if ('problems' in verdict) return responseToFault(verdict, incoming)
      return verdict.reason === 'Oversized'
        ? denied(422, oversizedDenial(managed, incoming))
        : denied(403, driftDenial(verdict, managed, incoming, facts))
    }
  }
}

const responseToFault = (fault: Fault, incoming: KubeObject) => {
  const { message, causes } = faultDenial(fault, incoming)
  return denied(fault.reason === 'PatchBlocked' ? 403 : 422, message, causes)
}

/** The answer to a write whose annotations are refused before anything is known but the catalog. */
export function answerFault(
  fault: Fault,
  managed: Pick<ManagedObject, 'asset'>,
  incoming: KubeObject,
): Answer {
  const verdict = { kind: 'denied', ...fault } as const
  const response = audited(responseToFault(fault, incoming), verdict, managed)
  return { response, verdict: 'denied', reason: fault.reason }
}

/** The answer to a deletion, in words. */
export function answerDeletion(
  verdict: DeletionVerdict,
  old: KubeObject,
  managed: ManagedObject,
  snapshot: Snapshot,
): Answer {
  const { kind, reason } = verdict
  if (kind === 'denied') {
    const response = denied(403, deletionDenial(managed, old, snapshot))
    return { response: audited(response, verdict, managed), verdict: kind, reason }
  }
  const response = withWarnings(allowed(), deletionWarnings(verdict, managed, old, snapshot))
  return { response, verdict: kind, reason }
}

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
