import { accountUser } from '../../../../src/shared/engine/identity.ts'
import type { KubeObject, ObjectMeta } from '../../../../src/shared/engine/json/object.ts'
import { ok } from '../../../../src/shared/engine/result.ts'
import type { ResourceGraph } from '../../../../src/shared/graph/resource-graph.ts'
import type { Transform, TransformSpec } from '../../../../src/shared/graph/transform.ts'
import type { Outcome, Rendered } from '../../../../src/shared/modules/evaluation.ts'
import { createModule, type Module } from '../../../../src/shared/modules/module.ts'
import { sha256 } from '../../../../src/shared/ops/digest.ts'
import { createHandler } from '../../../../src/webhook/graph/handlers.ts'
import type { PreviewDeps } from '../../../../src/webhook/graph/preview.ts'
import { createSnapshot } from '../../../../src/webhook/graph/snapshot.ts'
import type { AdmissionRequest } from '../../../../src/webhook/server/review.ts'

export const RECONCILER = accountUser('graph-test', 'reconciler')
const API_VERSION = 'platform.pequod.io/v1alpha1'

export function moduleOf(files: Readonly<Record<string, string>>): Module {
  const made = createModule(files)
  if (!made.ok) throw new Error(made.error.message)
  return made.value
}

/** A Transform of the namespace shop. */
export const transform = (
  name: string,
  spec: Partial<TransformSpec> = {},
  metadata: Partial<ObjectMeta> = {},
): Transform => ({
  apiVersion: API_VERSION,
  kind: 'Transform',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, ...metadata },
  spec: { cueRef: { type: 'inline', ref: 'package m' }, input: {}, ...spec },
})

type Item = NonNullable<NonNullable<ResourceGraph['status']>['inventory']>[number]

/** An object in an inventory, by default a ConfigMap that was applied. */
export const item = (name: string, more: Partial<Item> = {}): Item => ({
  id: name,
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'shop',
  name,
  uid: `uid-${name}`,
  hash: 'hash',
  state: 'Applied',
  ...more,
})

/** The ResourceGraph of a Transform of the namespace shop, with these objects in its inventory. */
export const graphWith = (
  name: string,
  inventory: readonly Item[],
  metadata: Partial<ObjectMeta> = {},
): ResourceGraph => ({
  apiVersion: API_VERSION,
  kind: 'ResourceGraph',
  metadata: { name, namespace: 'shop', uid: `uid-of-graph-${name}`, ...metadata },
  spec: {
    sourceRef: { apiVersion: API_VERSION, kind: 'Transform', name, uid: `uid-${name}` },
    metadata: { name, version: 'v1alpha1', renderHash: '', renderedAt: '2026-01-01T00:00:00Z' },
    deletionPolicy: 'Delete',
    nodes: [{ id: 'a', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } }],
  },
  status: { inventory },
})

/** What a module renders to: ConfigMaps of these names. */
export const rendered = (
  names: readonly string[],
  more: Partial<Omit<Rendered, 'kind'>> = {},
): Rendered => ({
  kind: 'Rendered',
  nodes: names.map((name) => ({
    id: name,
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
  })),
  violations: [],
  overridable: [],
  ...more,
})

export interface DoorOptions extends Partial<Omit<PreviewDeps, 'evaluator'>> {
  readonly graphs?: readonly ResourceGraph[]
  readonly evaluator?: PreviewDeps['evaluator']
  /** In the place of an evaluator. */
  readonly outcome?: Outcome
}

/** The handler, with everything that it tells written down. */
export function doorWith({
  graphs = [],
  outcome = rendered(['a']),
  evaluator = { evaluate: async () => outcome },
  embedded = new Map(),
  policies = () => ok(moduleOf({ 'policies.cue': 'package policies' })),
  kinds,
}: DoorOptions = {}) {
  const counted: Readonly<Record<string, string>>[] = []
  const logged: object[] = []
  const wanted: string[] = []
  const snapshot = createSnapshot(graphs)
  const handler = createHandler({
    snapshot: () => snapshot,
    reconciler: RECONCILER,
    embedded,
    policies,
    evaluator,
    kinds: kinds ?? {
      isKnown: ({ kind }) => kind !== 'Novelty',
      isClusterScoped: ({ kind }) => kind === 'Namespace',
      wanted: (all) => wanted.push(...all.map(({ kind }) => kind)),
    },
    digest: sha256,
    metrics: {
      requests: { inc: (labels) => counted.push(labels) },
      duration: { observe: () => undefined },
    },
    log: { info: (entry) => logged.push(entry) },
    now: () => 0,
  })
  return { handler, counted, logged, wanted }
}

export interface Asked extends Partial<Omit<AdmissionRequest, 'object' | 'oldObject'>> {
  readonly object?: KubeObject
  readonly oldObject?: KubeObject
}

/** A request as the API server would send it: a creation, an update or a deletion by which objects there are. */
export function requestOf({ object, oldObject, ...rest }: Asked): AdmissionRequest {
  const { kind, metadata } = object ?? oldObject ?? transform('nothing')
  const operation = oldObject ? (object ? 'UPDATE' : 'DELETE') : 'CREATE'
  return {
    uid: 'c0ffee',
    operation,
    kind: { group: 'platform.pequod.io', version: 'v1alpha1', kind },
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    name: metadata.name,
    userInfo: { username: 'alice' },
    object: object ?? null,
    oldObject: oldObject ?? null,
    ...rest,
  }
}
