import { type Asset, type Catalog, kindKey } from '../../shared/baseline/catalog/catalog.ts'
import type { PromptHandler } from '../server/app.ts'
import { nameIn, objectIn } from '../server/object-in.ts'
import { type AdmissionRequest, allowed } from '../server/review.ts'
import { contestLimiter } from './contests/contest-limiter.ts'
import type { Contests } from './contests/contests.ts'
import { decide, decideFinally } from './decide/decide.ts'
import { gather } from './decide/gather.ts'
import type { DecideOptions, Gathered, Write } from './decide/gathered.ts'
import { judgeUninformed } from './decide/judge-annotations.ts'
import { judgeDeletion } from './decide/judge-deletion.ts'
import type { Verdict } from './decide/verdict.ts'
import { createReport, type ReportDeps } from './report.ts'
import type { ManagedObject, Snapshot } from './snapshot.ts'
import { type Answer, answerDeletion, answerFault, answerWrite } from './words/answer.ts'

export interface HandlerDeps extends ReportDeps, DecideOptions {
  readonly contests: Contests
  /** What is known now; undefined before the first state was read. */
  readonly snapshot: () => Snapshot | undefined
  readonly catalog: Catalog
}

/** The handlers of the two entries. The mutating one gives every verdict; the other has the last look. */
export function createHandlers(deps: HandlerDeps): {
  readonly mutate: PromptHandler
  readonly validate: PromptHandler
} {
  const report = createReport(deps)
  const respond = (
    request: AdmissionRequest,
    answerTo: (request: AdmissionRequest, deps: HandlerDeps) => Answer | undefined,
    isReported: (answer: Answer) => boolean,
  ) => {
    const startedAt = deps.now()
    const answer = answerTo(request, deps)
    if (answer && !request.dryRun && isReported(answer)) report(request, answer, startedAt)
    return answer?.response ?? allowed()
  }
  return {
    mutate: (request) => respond(request, mutation, () => true),
    // What the mutating entry has let pass it has counted.
    validate: (request) =>
      respond(
        request,
        validation,
        ({ verdict }) => request.operation === 'DELETE' || verdict === 'denied',
      ),
  }
}

const mutation = (request: AdmissionRequest, deps: HandlerDeps): Answer | undefined =>
  answerTo(request, deps, (gathered) =>
    decide(gathered, contestLimiter(deps.contests, request, deps.digest, deps.now())),
  )

function validation(request: AdmissionRequest, deps: HandlerDeps): Answer | undefined {
  if (request.operation !== 'DELETE') return answerTo(request, deps, decideFinally)
  const snapshot = deps.snapshot()
  const managed = snapshot && find(request, snapshot)
  if (!managed) return undefined
  const old = objectIn(request, 'oldObject')
  const verdict = judgeDeletion(old, request.userInfo.username, managed, snapshot)
  return answerDeletion(verdict, old, managed, snapshot)
}

/** What an answer depends on beside the request. */
type AnswerDeps = DecideOptions & Pick<HandlerDeps, 'snapshot' | 'catalog'>

/** The answer to a create or an update of one of our objects; undefined for any other request. */
export function answerTo(
  request: AdmissionRequest,
  deps: AnswerDeps,
  decide: (gathered: Gathered) => Verdict,
): Answer | undefined {
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return undefined
  const snapshot = deps.snapshot()
  if (!snapshot) return answerUninformed(request, deps)
  const managed = find(request, snapshot)
  if (!managed) return undefined
  const gathered = gather(writeIn(request), managed, snapshot, deps)
  return answerWrite(decide(gathered), gathered)
}

/** Before the first state is read only overrides are judged, since they mean the same in any state. */
function answerUninformed(request: AdmissionRequest, { catalog }: AnswerDeps): Answer | undefined {
  const asset = request.subResource ? undefined : catalog.find(isAskedAbout(request))
  const write = asset && writeIn(request)
  const fault = write && judgeUninformed(write, asset)
  return fault && answerFault(fault, { asset }, write.incoming)
}

// Where the HyperConverged lives is told by the state; its name is the same everywhere. The kind comes first: to know the
// name, the object is read.
const isAskedAbout =
  (request: AdmissionRequest) =>
  ({ object }: Asset) =>
    kindKey(object) === kindKey(request.kind) &&
    object.name === nameIn(request) &&
    (object.namespace === '$hco' || (object.namespace ?? '') === (request.namespace ?? ''))

function find(request: AdmissionRequest, snapshot: Snapshot): ManagedObject | undefined {
  const { kind, namespace, subResource } = request
  // Of other kinds nothing is read.
  if (subResource || !snapshot.isKindManaged(kind.group, kind.kind)) return undefined
  return snapshot.find(kind.group, kind.kind, namespace, nameIn(request))
}

const writeIn = (request: AdmissionRequest): Write => {
  const { operation, oversized = [] } = request
  return {
    incoming: objectIn(request, 'object'),
    old: operation === 'UPDATE' ? objectIn(request, 'oldObject') : undefined,
    oversized: { incoming: oversized.includes('object'), old: oversized.includes('oldObject') },
  }
}
