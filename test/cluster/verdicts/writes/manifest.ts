import jsonPatch from 'fast-json-patch'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { Loose } from '../../harness/autopilot-fixture.ts'

const OURS = 'virt-platform-autopilot'

/** The object as somebody keeps it in a file: without what only the API server says of it. */
export function plain({ status: _, ...object }: Loose): KubeObject {
  const {
    managedFields: _fields,
    resourceVersion: _version,
    uid: _uid,
    creationTimestamp: _created,
    generation: _generation,
    ...metadata
  } = object.metadata
  return { ...object, metadata }
}

/** What our manager applied: what the API server says that it owns. */
export function oursOf(object: Loose): KubeObject {
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  const owned = ownedOf(object, ownedFields(object))
  return { ...owned, apiVersion, kind, metadata: { ...owned.metadata, name, namespace } }
}

/** The fields that our manager owns, as the API server tells it. */
export const ownedFields = ({ metadata }: Loose): Loose =>
  metadata.managedFields.find(
    ({ manager, operation }: Loose) => manager === OURS && operation === 'Apply',
  )?.fieldsV1

// A list is ours as a whole, in all of the objects here.
function ownedOf(value: Loose, fields: Loose): Loose {
  const names = Object.keys(fields)
  if (names.length === 0 || !names.every((name) => name.startsWith('f:'))) return value
  return Object.fromEntries(
    names.map((name) => [name.slice(2), ownedOf(value[name.slice(2)], fields[name])]),
  )
}

/** The JSON merge patch (RFC 7386) that makes one object the other. */
export function mergePatchOf(from: Loose, to: Loose): Loose {
  const keys = new Set([...Object.keys(from), ...Object.keys(to)])
  const changed = [...keys].filter((key) => jsonPatch.compare([from[key]], [to[key]]).length > 0)
  return Object.fromEntries(
    changed.map((key) =>
      isMap(from[key]) && isMap(to[key])
        ? [key, mergePatchOf(from[key], to[key])]
        : [key, to[key] ?? null],
    ),
  )
}

const isMap = (value: Loose) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What people write of an object: neither what the API server adds nor where kubectl keeps what was applied last. */
export function essenceOf(object: Loose) {
  const { labels, annotations = {}, ownerReferences = [], finalizers = [] } = object.metadata
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...others } = annotations
  const { spec, data } = object
  return { labels, annotations: others, ownerReferences, finalizers, spec, data }
}
