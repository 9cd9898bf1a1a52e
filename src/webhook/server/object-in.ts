import { groupOf, isKubeObject, isMap, type KubeObject } from '../../shared/engine/json/object.ts'
import { type AdmissionRequest, Refused } from './review.ts'

/** The name of the object that a request is about. A collection delete has none of its own; what is deleted has. */
export function nameIn({ object, oldObject, name = '' }: AdmissionRequest): string {
  const subject = oldObject ?? object
  return isKubeObject(subject) ? subject.metadata.name : name
}

/** An object of a request that is sure to have it. Throws Refused where it is none, or another one than the request is about. */
export function objectIn(request: AdmissionRequest, field: 'object' | 'oldObject'): KubeObject {
  const object = request[field]
  if (!(isKubeObject(object) && hasSoundMetadata(object)))
    throw new Refused(
      400,
      `request.${field} of ${request.operation} is no Kubernetes object with a name`,
    )
  if (isOf(request, object)) return object
  throw new Refused(
    400,
    `request.${field} of ${request.operation} is not the object that it is about`,
  )
}

const hasSoundMetadata = ({ metadata: { namespace, uid, labels, annotations } }: KubeObject) =>
  [namespace, uid].every((text) => text === undefined || typeof text === 'string') &&
  [labels, annotations].every(isTexts)

// The API server never says otherwise. What is kept or told of a write goes by the object's name, so that a caller who makes
// names up would fill our memory.
const isOf = (request: AdmissionRequest, { apiVersion, kind, metadata }: KubeObject) =>
  kind === request.kind.kind &&
  groupOf(apiVersion) === request.kind.group &&
  (metadata.namespace ?? '') === (request.namespace ?? '') &&
  metadata.name === nameIn(request) &&
  metadata.name === (request.name || metadata.name)

// Labels are the most of many objects, so that no list of them is made.
function isTexts(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (!isMap(value)) return false
  for (const name in value) if (typeof value[name] !== 'string') return false
  return true
}
