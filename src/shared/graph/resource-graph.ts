import { type Static, Type } from '@sinclair/typebox'
import { ATOMIC, CONDITIONS, type CustomResource, word } from '../api/custom-resource.ts'
import { type Frozen, mapOf } from '../api/schema-parts.ts'
import type { KubeObject } from '../engine/json/object.ts'
import { GROUP, VERSION } from './names.ts'

const TIME = Type.String({ format: 'date-time' })
const DELETION_POLICY = word(['Delete', 'Orphan'])

const PREDICATE = Type.Object({
  type: word(['ConditionMatch', 'DeploymentAvailable', 'Exists']),
  conditionType: Type.Optional(Type.String()),
  conditionStatus: Type.Optional(Type.String()),
  timeout: Type.Optional(Type.Integer({ minimum: 0, description: 'Seconds.' })),
})

const NODE = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 253 }),
  object: Type.Unsafe<KubeObject>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    required: ['apiVersion', 'kind', 'metadata'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        required: ['name'],
        properties: { name: { type: 'string' }, namespace: { type: 'string' } },
      },
    },
  }),
  applyPolicy: Type.Optional(
    Type.Object({
      mode: Type.Optional(word(['Apply', 'Create'])),
      conflictPolicy: Type.Optional(word(['Error', 'Force'])),
      deletionPolicy: Type.Optional(DELETION_POLICY),
    }),
  ),
  dependsOn: Type.Optional(Type.Array(Type.String(), ATOMIC)),
  readyWhen: Type.Optional(Type.Array(PREDICATE, ATOMIC)),
})

const NODES = Type.Array(NODE, { ...ATOMIC, minItems: 1, maxItems: 100 })

const SPEC = Type.Object({
  sourceRef: Type.Object({
    apiVersion: Type.String(),
    kind: Type.String(),
    name: Type.String(),
    uid: Type.String(),
  }),
  metadata: Type.Object({
    name: Type.String(),
    version: Type.String(),
    platformRef: Type.Optional(Type.String({ description: 'The module’s digest.' })),
    renderHash: Type.String({
      description: 'What the nodes and their policies say, as one digest.',
    }),
    renderedAt: TIME,
  }),
  deletionPolicy: DELETION_POLICY,
  nodes: NODES,
})

const ITEM = Type.Object({
  id: Type.String(),
  apiVersion: Type.String(),
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  uid: Type.Optional(Type.String()),
  hash: Type.String(),
  state: word(['Pending', 'Applied', 'Failed', 'Pruned']),
  dependsOn: Type.Optional(Type.Array(Type.String(), ATOMIC)),
  deletionPolicy: Type.Optional(DELETION_POLICY),
  removedAt: Type.Optional(TIME),
})

const NODE_STATUS = Type.Object({
  phase: Type.String(),
  readyDetails: Type.Optional(Type.String()),
  lastError: Type.Optional(Type.String({ maxLength: 2048 })),
  appliedAt: Type.Optional(TIME),
  readyAt: Type.Optional(TIME),
})

const STATUS = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64', minimum: 0 })),
  conditions: Type.Optional(CONDITIONS),
  phase: Type.Optional(word(['Pending', 'Executing', 'Ready', 'Failed'])),
  nodeStatus: Type.Optional(
    Type.Unsafe<Record<string, Static<typeof NODE_STATUS>>>({
      ...mapOf(NODE_STATUS),
      'x-kubernetes-map-type': 'atomic',
      description: 'Each node by its id.',
    }),
  ),
  inventory: Type.Optional(
    Type.Array(ITEM, {
      ...ATOMIC,
      description: 'Every object that was, or is about to be, applied and not yet pruned.',
    }),
  ),
})

/** ResourceGraph: what a Transform was rendered to, and what became of it. Nobody writes it but us. */
export const RESOURCE_GRAPH: CustomResource = {
  group: GROUP,
  version: VERSION,
  kind: 'ResourceGraph',
  plural: 'resourcegraphs',
  shortNames: ['rg'],
  description: 'The graph of objects of one Transform, written by us alone: change the Transform.',
  spec: SPEC,
  status: STATUS,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
}

export type ResourceGraphSpec = Frozen<Static<typeof SPEC>>
export type ResourceGraphStatus = Frozen<Static<typeof STATUS>>

/** A ResourceGraph as the API server stores it. */
export interface ResourceGraph extends KubeObject {
  readonly spec: ResourceGraphSpec
  readonly status?: ResourceGraphStatus
}
