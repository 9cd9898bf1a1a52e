import { type Asset, type Catalog, kindKey } from '../shared/catalog/catalog.ts'
import type { EventInput } from '../shared/cluster/events.ts'
import { isKubeObject, isMap, type KubeObject } from '../shared/engine/object.ts'
import {
  type Answer,
  answerDeletion,
  answerFault,
  answerFinally,
  answerWrite,
  preventedEvent,
} from './answers.ts'
import { BadReview, type Handler } from './app.ts'
import type { JudgeContext } from './judge.ts'
import { judgeUninformed, type Write } from './judge-annotations.ts'
import type { Knowledge, ManagedObject } from './knowledge.ts'
import { OncePer } from './once-per.ts'
import { type AdmissionRequest, allowed } from './review.ts'

/** What the count of requests is divided by. */
export interface Counted {
  readonly kind: string
  readonly operation: string
  readonly verdict: string
  readonly reason: string
}

export interface HandlerDeps extends Pick<JudgeContext, 'enforcement' | 'digest'> {
  /** What is known now; undefined before the first state was read. */
  readonly knowledge: () => Knowledge | undefined
  readonly catalog: Catalog
  readonly metrics: {
    readonly requests: { inc(labels: Counted): void }
    readonly duration: { observe(labels: Pick<Counted, 'verdict'>, seconds: number): void }
  }
  readonly log: { info(entry: object, message: string): void }
  readonly record: (event: EventInput) => void
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number
}

const EVENT_INTERVAL_MS = 60_000
const EVENTS_REMEMBERED = 1_000

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
  return (
    found &&
    answerDeletion(
      objectIn(request, 'oldObject'),
      request.userInfo.username,
      found.managed,
      found.knowledge,
    )
  )
}

/** The answer to a create or an update of one of our objects; undefined for any other request. */
function judged(
  request: AdmissionRequest,
  deps: HandlerDeps,
  answer: typeof answerWrite,
): Answer | undefined {
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return undefined
  const knowledge = deps.knowledge()
  if (!knowledge) return judgedUninformed(request, deps)
  const found = find(request, knowledge)
  return found && answer(writeIn(request), found.managed, { ...deps, knowledge })
}

/** Before the first state is read only overrides are judged, since they mean the same in any state. */
function judgedUninformed(request: AdmissionRequest, { catalog }: HandlerDeps): Answer | undefined {
  const asset = request.subResource ? undefined : catalog.find(isNamedIn(request))
  const write = asset && writeIn(request)
  const fault = write && judgeUninformed(write, asset)
  return fault && answerFault(fault, { asset }, write.incoming)
}

// Where the HyperConverged lives is told by the state; its name is the same everywhere.
const isNamedIn = (request: AdmissionRequest) => {
  const name = nameOf(request)
  return ({ object }: Asset) =>
    kindKey(object) === kindKey(request.kind) &&
    object.name === name &&
    (object.namespace === '$hco' || (object.namespace ?? '') === (request.namespace ?? ''))
}

interface Found {
  readonly managed: ManagedObject
  readonly knowledge: Knowledge
}

function find(request: AdmissionRequest, knowledge: Knowledge | undefined): Found | undefined {
  if (!knowledge || request.subResource) return undefined
  const { kind, namespace } = request
  const managed = knowledge.find(kind.group, kind.kind, namespace, nameOf(request))
  return managed && { managed, knowledge }
}

// A collection delete has no name of its own; what is deleted has.
function nameOf({ object, oldObject, name = '' }: AdmissionRequest): string {
  const subject = oldObject ?? object
  return isKubeObject(subject) ? subject.metadata.name : name
}

const writeIn = (request: AdmissionRequest): Write => ({
  incoming: objectIn(request, 'object'),
  old: request.operation === 'UPDATE' ? objectIn(request, 'oldObject') : undefined,
})

function objectIn(request: AdmissionRequest, field: 'object' | 'oldObject'): KubeObject {
  const object = request[field]
  if (isKubeObject(object) && hasSoundMetadata(object)) return object
  throw new BadReview(
    `request.${field} of ${request.operation} is no Kubernetes object with a name`,
  )
}

const hasSoundMetadata = ({ metadata: { namespace, labels, annotations } }: KubeObject) =>
  (namespace === undefined || typeof namespace === 'string') && [labels, annotations].every(isTexts)

const isTexts = (value: unknown) =>
  value === undefined ||
  value === null ||
  (isMap(value) && Object.values(value).every((text) => typeof text === 'string'))

/** Tells metrics, log and events of an answer: events of the same fields and user once a minute. */
function createReport({ metrics, log, record, digest, now }: HandlerDeps) {
  const once = new OncePer(EVENT_INTERVAL_MS, EVENTS_REMEMBERED)
  return (request: AdmissionRequest, answer: Answer, startedAt: number) => {
    const {
      uid,
      kind: { kind },
      operation,
      userInfo: { username: user },
    } = request
    const { verdict, reason, prevented } = answer
    metrics.requests.inc({ kind, operation, verdict, reason })
    metrics.duration.observe({ verdict }, (now() - startedAt) / 1000)
    if (verdict !== 'allowed') log.info({ uid, user, kind, operation, verdict, reason }, 'judged')
    if (!prevented) return
    const subject = objectIn(request, 'object')
    const pointers = prevented.map(({ pointer }) => pointer).sort()
    const { namespace, name } = subject.metadata
    const key = digest(JSON.stringify([kind, namespace, name, user, pointers]))
    if (once.admits(key, now())) record(preventedEvent(answer, prevented, subject, user))
  }
}
