import { type Asset, type Catalog, kindKey } from '../../shared/baseline/catalog/catalog.ts'
import { groupOf, isKubeObject, isMap, type KubeObject } from '../../shared/engine/json/object.ts'
import { BadReview, type Handler } from '../server/app.ts'
import { type AdmissionRequest, allowed } from '../server/review.ts'
import {
  type Answer,
  answerDeletion,
  answerFault,
  answerFinally,
  answerWrite,
  type WriteContext,
} from './answers.ts'
import { createReferee } from './contests/referee.ts'
import type { Knowledge, ManagedObject } from './knowledge.ts'
import { createReport, type ReportDeps } from './report.ts'
import { judgeUninformed, type Write } from './verdict/judge-annotations.ts'
import type { JudgeContext } from './verdict/verdict.ts'

export interface HandlerDeps extends ReportDeps, Pick<JudgeContext, 'enforcement'> {
  /** What is known now; undefined before the first state was read. */
  readonly knowledge: () => Knowledge | undefined
  readonly catalog: Catalog
}

/** The handlers of the two entries. The mutating one gives every verdict; the other has the last look. */
export function createHandlers(deps: HandlerDeps): {
  readonly mutate: Handler
  readonly validate: Handler
} {
  const report = createReport(deps)
  const handler =
    (
      answer: (request: AdmissionRequest, deps: HandlerDeps) => Answer | undefined,
      reports: Reports,
    ): Handler =>
    (request) => {
      const startedAt = deps.now()
      const given = answer(request, deps)
      if (given && !request.dryRun && reports(request, given)) report(request, given, startedAt)
      return given?.response ?? allowed()
    }
  return {
    mutate: handler(mutation, () => true),
    // What the mutating entry has let pass it has counted.
    validate: handler(
      validation,
      ({ operation }, { verdict }) => operation === 'DELETE' || verdict === 'denied',
    ),
  }
}

type Reports = (request: AdmissionRequest, answer: Answer) => boolean

function mutation(request: AdmissionRequest, deps: HandlerDeps): Answer | undefined {
  return judged(request, deps, answerWrite)
}

function validation(request: AdmissionRequest, deps: HandlerDeps): Answer | undefined {
  if (request.operation !== 'DELETE') return judged(request, deps, answerFinally)
  const found = find(request, deps.knowledge())
  if (!found) return undefined
  const old = objectIn(request, 'oldObject')
  return answerDeletion(old, request.userInfo.username, found.managed, found.knowledge)
}

/** The answer to a create or an update of one of our objects; undefined for any other request. */
function judged(
  request: AdmissionRequest,
  deps: HandlerDeps,
  answer: (write: Write, managed: ManagedObject, context: WriteContext) => Answer,
): Answer | undefined {
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return undefined
  const knowledge = deps.knowledge()
  if (!knowledge) return judgedUninformed(request, deps)
  const found = find(request, knowledge)
  if (!found) return undefined
  const { contests, digest, now } = deps
  const referee = createReferee(contests, request, digest, now())
  const { quietMs } = contests
  return answer(writeIn(request), found.managed, { ...deps, knowledge, referee, quietMs })
}

/** Before the first state is read only overrides are judged, since they mean the same in any state. */
function judgedUninformed(request: AdmissionRequest, { catalog }: HandlerDeps): Answer | undefined {
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
    object.name === nameOf(request) &&
    (object.namespace === '$hco' || (object.namespace ?? '') === (request.namespace ?? ''))

interface Found {
  readonly managed: ManagedObject
  readonly knowledge: Knowledge
}

function find(request: AdmissionRequest, knowledge: Knowledge | undefined): Found | undefined {
  if (!knowledge || request.subResource) return undefined
  const { kind, namespace } = request
  // Of other kinds nothing is read.
  if (!knowledge.isKindManaged(kind.group, kind.kind)) return undefined
  const managed = knowledge.find(kind.group, kind.kind, namespace, nameOf(request))
  return managed && { managed, knowledge }
}

// A collection delete has no name of its own; what is deleted has.
function nameOf({ object, oldObject, name = '' }: AdmissionRequest): string {
  const subject = oldObject ?? object
  return isKubeObject(subject) ? subject.metadata.name : name
}

const writeIn = (request: AdmissionRequest): Write => {
  const { operation, oversized = [] } = request
  return {
    incoming: objectIn(request, 'object'),
    old: operation === 'UPDATE' ? objectIn(request, 'oldObject') : undefined,
    oversized: { incoming: oversized.includes('object'), old: oversized.includes('oldObject') },
  }
}

function objectIn(request: AdmissionRequest, field: 'object' | 'oldObject'): KubeObject {
  const object = request[field]
  if (!(isKubeObject(object) && hasSoundMetadata(object)))
    throw new BadReview(
      `request.${field} of ${request.operation} is no Kubernetes object with a name`,
    )
  if (isOf(request, object)) return object
  throw new BadReview(`request.${field} of ${request.operation} is not the object that it is about`)
}

const hasSoundMetadata = ({ metadata: { namespace, uid, labels, annotations } }: KubeObject) =>
  [namespace, uid].every((text) => text === undefined || typeof text === 'string') &&
  [labels, annotations].every(isTexts)

// The API server never says otherwise. Whatever is remembered or told of a write is under the object's name, so
// that a caller who makes names up would fill our memory with them.
const isOf = (request: AdmissionRequest, { apiVersion, kind, metadata }: KubeObject) =>
  kind === request.kind.kind &&
  groupOf(apiVersion) === request.kind.group &&
  (metadata.namespace ?? '') === (request.namespace ?? '') &&
  metadata.name === nameOf(request) &&
  metadata.name === (request.name || metadata.name)

const isTexts = (value: unknown) =>
  value === undefined ||
  value === null ||
  (isMap(value) && Object.values(value).every((text) => typeof text === 'string'))
