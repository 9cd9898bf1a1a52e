import { type Static, Type } from '@sinclair/typebox'
import {
  ATOMIC,
  CONDITIONS,
  type CustomResource,
  freeform,
  rules,
  word,
} from '../api/custom-resource.ts'
import type { Frozen } from '../api/schema-parts.ts'
import type { Account } from '../engine/identity.ts'
import type { KubeObject } from '../engine/json/object.ts'
import { DEFAULT_ACCOUNT, GROUP, VERSION } from './names.ts'

const KiB = 1024
const DURATION = '^([0-9]+(ms|s|m|h))+$'
/** A name as the API has it for most objects. */
export const OBJECT_NAME = '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'

const CUE_REF = Type.Object(
  {
    type: word(['embedded', 'inline', 'configmap'], {
      description: 'Where the module comes from.',
    }),
    ref: Type.String({
      minLength: 1,
      maxLength: 256 * KiB,
      description:
        'What the type says: the name of a module that is shipped with us (embedded), the module’s text (inline), or the name of a ConfigMap of this namespace (configmap).',
    }),
    path: Type.Optional(
      Type.String({
        maxLength: 256,
        pattern: '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$',
        description: 'The folder of the package in the module; by default its root.',
      }),
    ),
  },
  {
    description: 'The module that renders the graph.',
    ...rules(
      {
        rule: `self.type == 'inline' || (size(self.ref) <= 253 && self.ref.matches('${OBJECT_NAME}'))`,
        message: 'must be a name: lowercase letters, digits, - and .',
        fieldPath: '.ref',
      },
      {
        rule: `self.type != 'inline' || !has(self.path)`,
        message: 'an inline module is one file and has no folders',
        fieldPath: '.path',
      },
    ),
  },
)

const POLICY_OVERRIDE = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 253, description: 'The policy’s name.' }),
  severity: word(['Error', 'Warning', 'Info'], {
    description: 'What a violation of it is here: an Error keeps the graph from being applied.',
  }),
})

const SPEC = Type.Object({
  cueRef: CUE_REF,
  input: freeform({ description: 'What the module’s #Input asks for.' }),
  policies: Type.Optional(
    Type.Array(POLICY_OVERRIDE, {
      maxItems: 50,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description:
        'Other severities for policies of the platform, where the platform lets them be overridden.',
    }),
  ),
  deletionPolicy: Type.Optional(
    word(['Delete', 'Orphan'], {
      default: 'Delete',
      description:
        'What becomes of objects that leave the graph, or whose Transform is deleted: Orphan leaves them as they are.',
    }),
  ),
  suspend: Type.Optional(
    Type.Boolean({ description: 'While true nothing is rendered, applied, healed or pruned.' }),
  ),
  serviceAccountName: Type.Optional(
    Type.String({
      maxLength: 253,
      pattern: OBJECT_NAME,
      description: `The account of this namespace by which everything is read, applied and deleted; by default ${DEFAULT_ACCOUNT}.`,
    }),
  ),
  interval: Type.Optional(
    Type.String({
      maxLength: 20,
      pattern: DURATION,
      default: '10m',
      description: 'How often to look for drift where nothing tells of it.',
    }),
  ),
})

const VIOLATION = Type.Object({
  name: Type.String({ description: 'Of the policy.' }),
  severity: word(['Error', 'Warning', 'Info']),
  path: Type.String(),
  message: Type.String(),
  source: word(['module', 'platform'], { description: 'Whose policy it is.' }),
})

const STATUS = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64', minimum: 0 })),
  conditions: Type.Optional(CONDITIONS),
  resourceGraphRef: Type.Optional(
    Type.Object({
      apiVersion: Type.String(),
      kind: Type.String(),
      namespace: Type.String(),
      name: Type.String(),
      uid: Type.String(),
    }),
  ),
  resolvedCueRef: Type.Optional(
    Type.Object(
      { digest: Type.String(), fetchedAt: Type.String({ format: 'date-time' }) },
      { description: 'The module in force.' },
    ),
  ),
  violations: Type.Optional(
    Type.Array(VIOLATION, { ...ATOMIC, description: 'The policies that the graph violates.' }),
  ),
})

/** Transform: what people write. */
export const TRANSFORM: CustomResource = {
  group: GROUP,
  version: VERSION,
  kind: 'Transform',
  plural: 'transforms',
  shortNames: ['tf'],
  description: 'An input for a module, whose graph of objects is applied and kept.',
  spec: SPEC,
  status: STATUS,
  columns: [
    { name: 'Module', type: 'string', jsonPath: '.spec.cueRef.type' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
}

export type TransformSpec = Frozen<Static<typeof SPEC>>
export type TransformStatus = Frozen<Static<typeof STATUS>>

/** A Transform as the API server stores it: its definition's schema holds. */
export interface Transform extends KubeObject {
  readonly spec: TransformSpec
  readonly status?: TransformStatus
}

/** The account by which a Transform acts. */
export const accountOf = ({ metadata, spec }: Transform): Account => ({
  namespace: metadata.namespace ?? '',
  name: spec.serviceAccountName ?? DEFAULT_ACCOUNT,
})

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const BY_DEFAULT = '10m'
// More often would be polling; and less than a day is what somebody still waits for.
const SHORTEST_MS = 60_000
const LONGEST_MS = 24 * 3_600_000

/** How often to look for drift where nothing tells of it, in milliseconds. */
export function intervalMs({ spec: { interval = BY_DEFAULT } }: Transform): number {
  const parts = [...interval.matchAll(/(\d+)(ms|s|m|h)/g)]
  const ms = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0),
    0,
  )
  return Math.min(Math.max(ms, SHORTEST_MS), LONGEST_MS)
}

/** Whether what the Transform made is to stay when it goes: by its own word, or by `kubectl delete --cascade=orphan`. */
export const isOrphaning = ({ metadata, spec }: Transform): boolean =>
  spec.deletionPolicy === 'Orphan' ||
  ((metadata.finalizers ?? []) as readonly string[]).includes('orphan')
