import { createStatusDecider } from '../../../src/shared/baseline/asset-status.ts'
import type { Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../../src/shared/baseline/facts/facts.ts'
import { type State, UNKNOWN } from '../../../src/shared/baseline/state.ts'
import type { EventInput } from '../../../src/shared/cluster/events.ts'
import type { KindSchema } from '../../../src/shared/cluster/schemas.ts'
import { canonicalJson } from '../../../src/shared/engine/json/canonical.ts'
import { groupOf, type KubeObject } from '../../../src/shared/engine/json/object.ts'
import { ATOMIC, memberTree } from '../../../src/shared/engine/merge/merge-tree.ts'
import { treeOf } from '../../../src/shared/engine/merge/tree-of.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { Contests } from '../../../src/webhook/baseline/contests/contests.ts'
import { createHandlers } from '../../../src/webhook/baseline/handlers.ts'
import type { Counted } from '../../../src/webhook/baseline/report.ts'
import {
  createSnapshot,
  type ManagedObject,
  type Snapshot,
} from '../../../src/webhook/baseline/snapshot.ts'
import type { AdmissionRequest } from '../../../src/webhook/server/review.ts'
import { catalog, everythingServed, factsWith } from '../baseline/facts.ts'
import { crdTree, deepFreeze } from '../engine/merge/schemas.ts'

const hyperConvergeds = 'kubevirt/hyperconvergeds.hco.kubevirt.io.yaml'
const machineConfigs = 'openshift/machineconfigs.machineconfiguration.openshift.io.yaml'
const kubeletConfigs = 'openshift/kubeletconfigs.machineconfiguration.openshift.io.yaml'

const schema = (file: string, version: string): KindSchema => ({
  tree: crdTree(file, version),
  enums: {},
  fields: {},
})

/** The same schema that knows any field of the spec, so that a test can make some up. */
function open({ tree, ...answers }: KindSchema): KindSchema {
  const spec = memberTree(tree, 'spec')
  if (tree.type !== 'map' || spec?.type !== 'map') throw new Error('a HyperConverged has a spec')
  return {
    ...answers,
    tree: { ...tree, fields: { ...tree.fields, spec: { ...spec, rest: ATOMIC } } },
  }
}

const configMaps = treeOf(
  {
    type: 'object',
    properties: { data: { type: 'object', additionalProperties: { type: 'string' } } },
  },
  () => undefined,
)

/** The merge trees of the catalog's kinds, but for the descheduler's, and of one built-in kind. */
export const schemas: ReadonlyMap<string, KindSchema> = new Map([
  ['hco.kubevirt.io/v1/HyperConverged', schema(hyperConvergeds, 'v1')],
  ['hco.kubevirt.io/v1beta1/HyperConverged', open(schema(hyperConvergeds, 'v1beta1'))],
  ['machineconfiguration.openshift.io/v1/MachineConfig', schema(machineConfigs, 'v1')],
  ['machineconfiguration.openshift.io/v1/KubeletConfig', schema(kubeletConfigs, 'v1')],
  ['v1/ConfigMap', { tree: configMaps, enums: {}, fields: {} }],
  ['metallb.io/v1beta1/MetalLB', schema('operators/metallbs.metallb.io.yaml', 'v1beta1')],
  [
    'remediation.medik8s.io/v1alpha1/NodeHealthCheck',
    schema('remediation/nodehealthchecks.remediation.medik8s.io.yaml', 'v1alpha1'),
  ],
])

/** A cluster that has all the catalog asks for but PCI devices, and serves the HyperConverged as v1beta1. */
export const facts: Facts = factsWith({
  hco: {
    apiVersion: 'hco.kubevirt.io/v1beta1',
    namespace: 'openshift-cnv',
    annotations: { 'enable-loadaware': 'true' },
  },
  served: { ...everythingServed, 'hco.kubevirt.io/HyperConverged': ['v1beta1'] },
})

// Decides nothing anew for what it was last asked, as in the product.
const ownStatuses = createStatusDecider(catalog, sha256)

/** What the leader has published: everything in force as the catalog says, unless a test says otherwise. */
export function snapshotOf(changes: Partial<State> = {}, assets: Catalog = catalog): Snapshot {
  const statuses = assets === catalog ? ownStatuses : createStatusDecider(assets, sha256)
  const state: State = {
    ...UNKNOWN,
    settings: {},
    facts,
    baselines: {},
    ...changes,
  }
  const active = createSnapshot(assets, state, schemas, statuses).all.flatMap(
    ({ asset, status }) => (status.kind === 'active' ? [{ asset, status }] : []),
  )
  const baselines = active.map(({ asset, status }) => [asset.name, status.digest] as const)
  const applied = active.flatMap(({ asset, status }) =>
    asset.disruption === 'none'
      ? []
      : [[asset.name, sha256(canonicalJson(status.baseline))] as const],
  )
  const agreed = {
    ...state,
    baselines: { ...Object.fromEntries(baselines), ...state.baselines },
    applied: { ...Object.fromEntries(applied), ...state.applied },
  }
  return createSnapshot(assets, agreed, schemas, statuses)
}

export const snapshot = snapshotOf()

/** The catalog's object that an asset yields, as the webhook knows it. */
export function managedBy(asset: string, known: Snapshot = snapshot): ManagedObject {
  const managed = known.all.find((candidate) => candidate.asset.name === asset)
  if (!managed) throw new Error(`the catalog has no asset ${asset}`)
  return managed
}

/** The object of an asset exactly as its baseline has it. */
export function baselineOf(asset: string, known: Snapshot = snapshot): KubeObject {
  const { status } = managedBy(asset, known)
  if (status.kind !== 'active') throw new Error(`the asset ${asset} is not active`)
  return status.baseline
}

export interface Edit {
  readonly spec?: (spec: Json) => unknown
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** JSON that a test edits in place, on a copy. */
export interface Json {
  [member: string]: Json
}

/** A stored or written object: the baseline of an asset, edited. */
export function edited(
  object: KubeObject,
  { spec, annotations, labels, metadata }: Edit,
): KubeObject {
  const copy = structuredClone(object) as unknown as { spec: Json }
  const rest = spec?.(copy.spec)
  return deepFreeze({
    ...object,
    metadata: {
      ...object.metadata,
      ...(annotations && { annotations }),
      ...(labels && { labels }),
      ...metadata,
    },
    spec: rest === undefined ? copy.spec : rest,
  })
}

/** A request about a catalog object, as the API server would send it. */
export function requestFor(
  operation: AdmissionRequest['operation'],
  { object, oldObject, ...rest }: Partial<AdmissionRequest>,
): AdmissionRequest {
  const { apiVersion, kind, metadata } = (oldObject ?? object) as KubeObject
  return {
    uid: 'c0ffee',
    operation,
    kind: { group: groupOf(apiVersion), version: String(apiVersion.split('/').at(-1)), kind },
    ...(metadata.namespace && { namespace: metadata.namespace }),
    name: metadata.name,
    userInfo: { username: 'admin' },
    object: object ?? null,
    oldObject: oldObject ?? null,
    ...rest,
  }
}

/** The handlers, with everything that they tell written down; without an enforcement the flag says nothing. */
export function handlersWith(
  known: Snapshot | null = snapshot,
  enforcement?: 'correct' | 'deny',
  capacity = 5,
) {
  const counted: Counted[] = []
  const timed: (readonly [verdict: string, seconds: number])[] = []
  const logged: object[] = []
  const events: EventInput[] = []
  const wars: string[] = []
  const contests = new Contests({ capacity, refillMs: 720_000, quietMs: 3_600_000 })
  const clock = { now: 0 }
  const handlers = createHandlers({
    snapshot: () => known ?? undefined,
    catalog,
    enforcement,
    digest: sha256,
    contests,
    metrics: {
      contests: { inc: ({ name }) => wars.push(`contest ${name}`) },
      thrashing: { inc: ({ name }) => wars.push(`war ${name}`) },
      requests: { inc: (labels) => counted.push(labels) },
      duration: { observe: ({ verdict }, seconds) => timed.push([verdict, seconds]) },
    },
    log: { info: (entry) => logged.push(entry) },
    record: (event) => events.push(event),
    now: () => clock.now,
  })
  const routes = { '/mutate': handlers.mutate, '/validate': handlers.validate }
  return { ...handlers, routes, counted, timed, logged, events, wars, contests, clock }
}
