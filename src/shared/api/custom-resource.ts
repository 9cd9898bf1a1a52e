import { type TSchema, Type } from '@sinclair/typebox'
import type { KubeObject } from '../engine/json/object.ts'
import { oneOf } from './schema-parts.ts'

/** A kind of ours: the definition, the types and the validators all come from its schemas. */
export interface CustomResource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly description: string
  readonly spec: TSchema
  readonly status: TSchema
  /** What `kubectl get` prints beside the name. */
  readonly columns: readonly PrinterColumn[]
}

interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date'
  readonly jsonPath: string
  readonly description?: string
  /** Above 0, only `-o wide` prints it. */
  readonly priority?: number
}

/** A rule in CEL, beside a schema: it holds with no webhook there. */
interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly fieldPath?: string
}

/** Rules as a member of a schema's options. */
export const rules = (...all: readonly ValidationRule[]) => ({ 'x-kubernetes-validations': all })

/** One of some words, as a structural schema says it. */
export const word = <const Words extends readonly string[]>(
  words: Words,
  options: Readonly<Record<string, unknown>> = {},
) => oneOf(words, { type: 'string', ...options })

/** A map of which only the author knows what is in it. */
export const freeform = (options: Readonly<Record<string, unknown>> = {}) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    ...options,
  })

/** A list that is only ever replaced as a whole: its items cost nothing in managedFields. */
export const ATOMIC = { 'x-kubernetes-list-type': 'atomic' } as const

/** The conditions of a status. */
export const CONDITIONS = Type.Array(
  Type.Object({
    observedGeneration: Type.Optional(Type.Integer({ format: 'int64', minimum: 0 })),
    type: Type.String({ maxLength: 316 }),
    status: word(['True', 'False', 'Unknown']),
    reason: Type.String({ maxLength: 1024, minLength: 1 }),
    message: Type.String({ maxLength: 32_768 }),
    lastTransitionTime: Type.String({ format: 'date-time' }),
  }),
  {
    description: 'What was found, as `kubectl wait --for=condition=` asks for it.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  },
)

/** The kind's name in the API server: `transforms.platform.pequod.io`. */
export const definitionName = ({ plural, group }: CustomResource) => `${plural}.${group}`

/** The `apiVersion` of the kind's objects. */
export const apiVersionOf = ({ group, version }: CustomResource) => `${group}/${version}`

/** The kind's CustomResourceDefinition. It is namespaced, has a status of its own, and outlives its installation. */
export function definitionOf(resource: CustomResource): KubeObject {
  const { group, version, kind, plural, shortNames, description, spec, status, columns } = resource
  const schema = Type.Object(
    {
      apiVersion: Type.String(),
      kind: Type.String(),
      metadata: Type.Unsafe({ type: 'object' }),
      spec,
      status: Type.Optional(status),
    },
    { description },
  )
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: definitionName(resource),
      // With the definition all its objects would go, and with these what they made.
      annotations: { 'helm.sh/resource-policy': 'keep' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          // Without what only TypeBox reads, which is under symbols.
          schema: { openAPIV3Schema: JSON.parse(JSON.stringify(schema)) },
        },
      ],
    },
  }
}
