import {
  isMap,
  type KubeObject,
  type ManagedFieldsEntry,
} from '../../../src/shared/engine/json/object.ts'
import type { GraphNode } from '../../../src/shared/graph-engine/node.ts'
import type { MarkNames, Owner } from '../../../src/shared/graph-engine/ownership.ts'
import { fieldManagerOf, withMarks } from '../../../src/shared/graph-engine/ownership.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'

export const NAMES: MarkNames = {
  fieldManagerPrefix: 'test',
  ownerAnnotation: 'test.example.com/owner',
  ownerLabel: 'test.example.com/graph',
  protectionAnnotation: 'test.example.com/prune-protection',
  gracePeriodAnnotation: 'test.example.com/prune-grace-period',
}

export const OWNER: Owner = { kind: 'Graph', namespace: 'shop', name: 'web', uid: 'owner-1' }

export const MANAGER = fieldManagerOf(OWNER, NAMES, sha256)

/** 2026-01-01T00:00:00Z, when all times of these tests begin. */
export const START = Date.UTC(2026, 0, 1)

export const timestamp = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')

/** A ConfigMap, which is ready as soon as it is there. */
export const configMap = (name: string, data: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name },
  data,
})

/** A custom resource, ready when its condition says so. */
export const widget = (name: string, spec: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { namespace: 'shop', name },
  spec,
})

export const node = (id: string, more: Partial<GraphNode> = {}): GraphNode => ({
  id,
  object: widget(id),
  ...more,
})

export const withMetadata = (object: KubeObject, more: object): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...more },
})

/** The fields that the server records for an apply of the object, where all lists are atomic. */
const fieldsOf = (value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      `f:${name}`,
      isMap(member) ? fieldsOf(member) : {},
    ]),
  )

export const applyEntry = (object: KubeObject, manager: string): ManagedFieldsEntry => {
  const { apiVersion, kind: _kind, metadata, ...content } = object
  const {
    name: _name,
    namespace: _namespace,
    uid: _uid,
    resourceVersion: _version,
    ...marks
  } = metadata
  return {
    manager,
    operation: 'Apply',
    apiVersion,
    fieldsV1: fieldsOf({ ...content, metadata: marks }),
  }
}

export interface LiveOptions {
  readonly owner?: Owner
  readonly metadata?: object
  readonly status?: object
}

/** The object as the server holds it after the owner applied it. */
export function applied(
  object: KubeObject,
  { owner = OWNER, metadata = {}, status }: LiveOptions = {},
): KubeObject {
  const marked = withMarks(object, owner, NAMES, sha256)
  const managedFields = [applyEntry(marked, fieldManagerOf(owner, NAMES, sha256))]
  const live = withMetadata(marked, {
    uid: `uid-${object.metadata.name}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: timestamp(START),
    managedFields,
  })
  const annotations = (metadata as KubeObject['metadata']).annotations
  const own = annotations
    ? { ...metadata, annotations: { ...live.metadata.annotations, ...annotations } }
    : metadata
  return { ...withMetadata(live, own), ...(status && { status }) }
}

export const READY = { conditions: [{ type: 'Ready', status: 'True' }] }
export const NOT_READY = {
  conditions: [{ type: 'Ready', status: 'False', reason: 'Starting', message: 'wait for it' }],
}
