import jsonPatch from 'fast-json-patch'

import type { EventInput } from '../shared/cluster/events.ts'
import { isKubeObject, type KubeObject } from '../shared/engine/object.ts'
import type { Log } from '../shared/ops/log.ts'
import type { WebhookMetrics } from '../shared/ops/metrics.ts'
import { BadReview, type Handler } from './app.ts'
import { type JudgeContext, judge, type Verdict } from './judge.ts'
import { judgeDelete } from './judge-delete.ts'
import type { Knowledge, ManagedObject } from './knowledge.ts'
import { correctionWarnings, deletionMessage, driftDenial, problemDenial } from './messages.ts'
import {
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  denied,
  patched,
} from './review.ts'

export interface HandlerDeps extends Pick<JudgeContext, 'enforcement' | 'digest'> {
  /** What is known now; undefined before the first state was read. */
  readonly knowledge: () => Knowledge | undefined
  readonly metrics: WebhookMetrics
  readonly log: Log
  readonly record: (event: EventInput) => void
}

/** The handlers of the two entries. The mutating one gives every verdict and does all counting. */
export function createHandlers(deps: HandlerDeps): {
  readonly mutate: Handler
  readonly validate: Handler
} {
  return {
    mutate: (request) => timed(request, deps, (found) => judgeWrite(request, found, deps)),
    validate: (request) =>
      request.operation === 'DELETE'
        ? timed(request, deps, (found) => judgeDeletion(request, found))
        : (answer(request, deps, (found) => confirm(request, found, deps))?.response ?? allowed()),
  }
}

interface Found {
  readonly managed: ManagedObject
  readonly knowledge: Knowledge
}

interface Answer {
  readonly response: AdmissionResponse
  readonly verdict: string
  readonly reason: string
  readonly event?: EventInput
}

type Judgement = (found: Found) => Answer

function timed(request: AdmissionRequest, deps: HandlerDeps, decide: Judgement): AdmissionResponse {
  const startedAt = performance.now()
  const given = answer(request, deps, decide)
  if (!given) return allowed()
  const { response, verdict, reason, event } = given
  if (!request.dryRun) {
    const { kind, operation } = request
    deps.metrics.requests.inc({ kind: kind.kind, operation, verdict, reason })
    if (verdict !== 'allowed') {
      deps.log.info(
        {
          uid: request.uid,
          user: request.userInfo.username,
          kind: kind.kind,
          operation,
          verdict,
          reason,
        },
        'judged',
      )
    }
    if (event) deps.record(event)
  }
  deps.metrics.duration.observe({ verdict }, (performance.now() - startedAt) / 1000)
  return response
}

/** The answer to a request about one of our objects; undefined for any other. */
function answer(
  request: AdmissionRequest,
  { knowledge }: HandlerDeps,
  decide: Judgement,
): Answer | undefined {
  const known = knowledge()
  if (!known || request.subResource || request.operation === 'CONNECT') return undefined
  const { kind, namespace } = request
  const managed = known.find(kind.group, kind.kind, namespace, nameOf(request))
  return managed && decide({ managed, knowledge: known })
}

// A collection delete has no name of its own; what is deleted has.
function nameOf({ object, oldObject, name }: AdmissionRequest): string {
  const [subject] = [oldObject, object].filter(
    (candidate) => candidate !== null && candidate !== undefined,
  )
  return isKubeObject(subject) ? subject.metadata.name : (name ?? '')
}

function objectIn(request: AdmissionRequest, field: 'object' | 'oldObject'): KubeObject {
  const object = request[field]
  if (isKubeObject(object)) return object
  throw new BadReview(
    `request.${field} of ${request.operation} is no Kubernetes object with a name`,
  )
}

const writeOf = (request: AdmissionRequest) => ({
  incoming: objectIn(request, 'object'),
  old: request.operation === 'UPDATE' ? objectIn(request, 'oldObject') : undefined,
})

function judgeWrite(
  request: AdmissionRequest,
  { managed, knowledge }: Found,
  deps: HandlerDeps,
): Answer {
  const write = writeOf(request)
  const verdict = judge(write, managed, { ...deps, knowledge })
  const audit = auditOf(verdict, managed)
  const kept = { verdict: verdict.kind, reason: verdict.reason }
  if (verdict.kind === 'allowed') {
    const response =
      verdict.notes.length === 0 ? allowed() : { ...allowed(), warnings: verdict.notes }
    return { ...kept, response }
  }
  if (verdict.kind === 'corrected') {
    const operations = jsonPatch.compare(write.incoming, verdict.corrected)
    const warnings = correctionWarnings(verdict, managed, write.incoming)
    const response = { ...patched(operations), warnings, auditAnnotations: audit }
    return {
      ...kept,
      response,
      ...(verdict.reason === 'Drift' && { event: prevented(verdict, write.incoming, request) }),
    }
  }
  const response = {
    ...refusal(verdict, managed, write.incoming, knowledge),
    auditAnnotations: audit,
  }
  return {
    ...kept,
    response,
    ...(verdict.reason === 'Drift' && { event: prevented(verdict, write.incoming, request) }),
  }
}

function refusal(
  verdict: Extract<Verdict, { kind: 'denied' }>,
  managed: ManagedObject,
  incoming: KubeObject,
  { facts }: Knowledge,
): AdmissionResponse {
  if (verdict.reason === 'Drift') return denied(403, driftDenial(verdict, managed, incoming, facts))
  const { message, causes } = problemDenial(verdict, managed, incoming)
  return denied(verdict.reason === 'PatchBlocked' ? 403 : 422, message, causes)
}

function prevented(
  { kind, drifts }: Extract<Verdict, { readonly drifts: unknown }>,
  subject: KubeObject,
  { userInfo }: AdmissionRequest,
): EventInput {
  const pointers = drifts.slice(0, 5).map(({ pointer }) => pointer)
  const note = `${userInfo.username} wrote ${pointers.join(', ')}: ${kind}`
  return { subject, type: 'Normal', reason: 'DriftPrevented', note }
}

function auditOf(verdict: Verdict, { asset }: ManagedObject): Readonly<Record<string, string>> {
  const pointers =
    'drifts' in verdict
      ? verdict.drifts
          .slice(0, 5)
          .map(({ pointer }) => pointer)
          .join(',')
      : ''
  return {
    verdict: verdict.kind,
    reason: verdict.reason,
    asset: asset.name,
    ...(pointers && { pointers: pointers.slice(0, 1_000) }),
  }
}

/** The last look: whoever came after the mutating entry, a judged field must have its value. */
function confirm(
  request: AdmissionRequest,
  { managed, knowledge }: Found,
  deps: HandlerDeps,
): Answer {
  const write = writeOf(request)
  const verdict = judge(write, managed, { ...deps, knowledge })
  if (verdict.kind === 'allowed')
    return { response: allowed(), verdict: 'allowed', reason: verdict.reason }
  if (verdict.kind === 'denied') {
    return {
      response: refusal(verdict, managed, write.incoming, knowledge),
      verdict: 'denied',
      reason: verdict.reason,
    }
  }
  const message = driftDenial(
    { ...verdict, kind: 'denied', reason: 'Drift' },
    managed,
    write.incoming,
    knowledge.facts,
  )
  const explained = `${message}\nThe correction did not last: another admission webhook changes these fields after us, or ours was not reached. Write again.`
  return { response: denied(403, explained), verdict: 'denied', reason: 'NotCorrected' }
}

function judgeDeletion(request: AdmissionRequest, { managed, knowledge }: Found): Answer {
  const old = objectIn(request, 'oldObject')
  const verdict = judgeDelete(old, request.userInfo.username, managed, knowledge)
  const message = deletionMessage(verdict, managed, old, knowledge)
  const kept = { verdict: verdict.kind, reason: verdict.reason }
  if (verdict.kind === 'denied') return { ...kept, response: denied(403, message ?? '') }
  return {
    ...kept,
    response: message === undefined ? allowed() : { ...allowed(), warnings: [message] },
  }
}
