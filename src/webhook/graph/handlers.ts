import { Ajv } from 'ajv'
import { isEqual } from '../../shared/engine/json/equal.ts'
import { type KubeObject, memberOf } from '../../shared/engine/json/object.ts'
import { GROUP } from '../../shared/graph/names.ts'
import { RESOURCE_GRAPH } from '../../shared/graph/resource-graph.ts'
import { TRANSFORM, type Transform } from '../../shared/graph/transform.ts'
import type { Digest } from '../../shared/graph-engine/inventory.ts'
import type { Handler } from '../server/app.ts'
import { objectIn } from '../server/object-in.ts'
import { type AdmissionRequest, allowed, Refused } from '../server/review.ts'
import { judgeDeletion } from './decide/judge-deletion.ts'
import { judgeGraph } from './decide/judge-graph.ts'
import { judgeTransform, whyNotJudged } from './decide/judge-transform.ts'
import { allow } from './decide/verdict.ts'
import { type PreviewDeps, previewOf } from './preview.ts'
import { createReport, type ReportDeps } from './report.ts'
import type { Snapshot } from './snapshot.ts'
import { type Answer, answerFor } from './words/answer.ts'

export interface HandlerDeps extends ReportDeps, PreviewDeps {
  readonly snapshot: () => Snapshot
  /** The one user who writes ResourceGraphs. */
  readonly reconciler: string
  readonly digest: Digest
}

/** The handler of the one entry: what is judged is the whole write, after everybody who may change it. */
export function createHandler(deps: HandlerDeps): Handler {
  const report = createReport(deps)
  return (request) => {
    const startedAt = deps.now()
    const respond = (answer: Answer) => {
      if (!request.dryRun) report(request, answer, startedAt)
      return answer.response
    }
    const answer = answerTo(request, deps)
    if (!answer) return allowed()
    return answer instanceof Promise ? answer.then(respond) : respond(answer)
  }
}

/** The answer to a write of one of our kinds; undefined for any other request. */
function answerTo(
  request: AdmissionRequest,
  deps: HandlerDeps,
): Answer | Promise<Answer> | undefined {
  const { kind, subResource, operation } = request
  if (kind.group !== GROUP || subResource || operation === 'CONNECT') return undefined
  if (kind.kind === RESOURCE_GRAPH.kind) return answerToGraph(request, operation, deps)
  if (kind.kind !== TRANSFORM.kind) return undefined
  return operation === 'DELETE' ? answerToDeletion(request, deps) : answerToWrite(request, deps)
}

function answerToGraph(
  request: AdmissionRequest,
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  { reconciler }: HandlerDeps,
): Answer {
  const isDeletion = operation === 'DELETE'
  const object = objectIn(request, isDeletion ? 'oldObject' : 'object')
  const verdict = judgeGraph({
    operation,
    username: request.userInfo.username,
    reconciler,
    isSpecChanged: isSpecChanged(request, object),
    isEnding: object.metadata.deletionTimestamp !== undefined,
  })
  return answerFor(verdict, object, isDeletion)
}

function answerToDeletion(request: AdmissionRequest, { snapshot }: HandlerDeps): Answer {
  const old = objectIn(request, 'oldObject')
  // Of what is too large only its name is there.
  const transform = { ...old, spec: old.spec ?? {} } as Transform
  const verdict = judgeDeletion(transform, snapshot().graphOf(old), {
    username: request.userInfo.username,
    isCascadeOrphan: memberOf(request.options, 'propagationPolicy') === 'Orphan',
  })
  return answerFor(verdict, old)
}

function answerToWrite(request: AdmissionRequest, deps: HandlerDeps): Answer | Promise<Answer> {
  const incoming = objectIn(request, 'object')
  const why = whyNotJudged(incoming, isSpecChanged(request, incoming))
  if (why) return answerFor(allow(why), incoming)
  if (request.oversized?.includes('object'))
    return answerFor({ kind: 'allowed', reason: 'NotPreviewed', why: TOO_LARGE }, incoming)
  if (!isTransform(incoming))
    throw new Refused(400, `request.object of ${request.operation} is no ${TRANSFORM.kind}`)
  const { snapshot, digest } = deps
  return previewOf(incoming, deps).then((preview) =>
    answerFor(judgeTransform({ incoming, preview, snapshot: snapshot(), digest }), incoming),
  )
}

const TOO_LARGE = 'it has too many values to be looked at'

// Of what is too large nobody knows.
const isSpecChanged = ({ oldObject, oversized = [] }: AdmissionRequest, object: KubeObject) =>
  oversized.length > 0 || !isEqual(memberOf(oldObject, 'spec'), object.spec)

const ajv = new Ajv({ strict: false, meta: false, validateSchema: false })
const isSpec = ajv.compile(TRANSFORM.spec)
// The API server has held it against this very schema before.
const isTransform = (object: KubeObject): object is Transform => isSpec(object.spec)
