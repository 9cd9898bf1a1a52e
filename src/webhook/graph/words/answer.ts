import { cut } from '../../../shared/engine/format-value.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import {
  type AdmissionResponse,
  allowed,
  type Cause,
  denied,
  invalid,
} from '../../server/review.ts'
import type { Allowed, Denied, Owned, Verdict } from '../decide/verdict.ts'
import {
  deletionWarnings,
  faultDenial,
  graphDenial,
  orphanedWarnings,
  ownedDenial,
  ownedText,
  renderedWarnings,
  unpreviewedWarnings,
} from './messages.ts'

/** What is answered to one request, and what is to be told of it elsewhere. */
export interface Answer {
  readonly response: AdmissionResponse
  readonly verdict: Verdict['kind']
  readonly reason: Verdict['reason']
}

/** The answer, in words; the object is the one that is written, or deleted. */
export function answerFor(verdict: Verdict, object: KubeObject, isDeletion = false): Answer {
  const { kind, reason } = verdict
  const response =
    kind === 'allowed' ? responseToAllowed(verdict, object) : refusal(verdict, object, isDeletion)
  return { response, verdict: kind, reason }
}

function responseToAllowed(verdict: Allowed, object: KubeObject): AdmissionResponse {
  const warnings = warningsOf(verdict, object)
  return { ...allowed(), ...(warnings.length > 0 && { warnings }) }
}

function warningsOf(verdict: Allowed, object: KubeObject): readonly string[] {
  if ('why' in verdict) return unpreviewedWarnings(verdict.why, object)
  if ('pruned' in verdict) return renderedWarnings(verdict, object)
  if ('left' in verdict) return orphanedWarnings(verdict.left, object)
  return 'going' in verdict ? deletionWarnings(verdict, object) : []
}

function refusal(verdict: Denied, object: KubeObject, isDeletion: boolean): AdmissionResponse {
  if ('causes' in verdict) {
    const causes = verdict.causes.map(({ field, message }) =>
      cause('FieldValueInvalid', field, message),
    )
    return invalid(faultDenial(verdict.causes, object), causes.slice(0, MAX_CAUSES))
  }
  if ('owned' in verdict) {
    const causes = verdict.owned.map((one) =>
      cause('FieldValueForbidden', fieldOf(one), ownedText(one)),
    )
    return denied(ownedDenial(verdict.owned, object), causes.slice(0, MAX_CAUSES))
  }
  return denied(graphDenial(object, isDeletion))
}

const MAX_CAUSES = 20
// Bytes; a module may say as much as it likes.
const TEXT_LIMIT = 512

const cause = (reason: string, field: string, message: string): Cause => ({
  reason,
  field: cut(field, TEXT_LIMIT),
  message: cut(message, TEXT_LIMIT),
})

const fieldOf = ({ id }: Owned) => `graph.nodes[${id}].object`
