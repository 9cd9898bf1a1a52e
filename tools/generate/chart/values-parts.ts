// What the schema of the chart's values is made of.
import { type ObjectOptions, type TProperties, Type } from '@sinclair/typebox'
import { closed } from '../../../src/shared/baseline/catalog/schema-parts.ts'

export const text = (description: string, byDefault = '', pattern?: string) =>
  Type.String({ description, default: byDefault, ...(pattern !== undefined && { pattern }) })

export const flag = (description: string, byDefault: boolean) =>
  Type.Boolean({ description, default: byDefault })

export const group = (members: TProperties, description?: string) =>
  closed(members, description === undefined ? {} : { description })

/** Members that need not all be there, of an object that is Kubernetes's own. */
export const parts = (members: TProperties, options: ObjectOptions = {}) =>
  closed(
    Object.fromEntries(Object.entries(members).map(([name, one]) => [name, Type.Optional(one)])),
    options,
  )

// What Kubernetes itself describes, and judges when it is applied.
export const ANYTHING = Type.Unsafe({ type: 'object' })
export const TEXTS = { type: 'object', additionalProperties: { type: 'string' } } as const

export const name = '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$'

const AMOUNTS = parts({
  cpu: Type.Union([Type.String(), Type.Number()]),
  memory: Type.String(),
  'ephemeral-storage': Type.String(),
})

export const replicas = (description: string) =>
  Type.Integer({ description, default: 2, minimum: 1 })

interface Amounts {
  readonly requests: { readonly cpu: string; readonly memory: string }
  readonly limits?: { readonly memory: string }
}

export const resources = (description: string, byDefault: Amounts) =>
  parts({ requests: AMOUNTS, limits: AMOUNTS }, { description, default: byDefault })

export const extraArgs = (command: string) =>
  Type.Array(Type.String({ pattern: '^--' }), {
    description: `More arguments, such as are in \`${command} --help\`: --NAME=VALUE.`,
    default: [],
  })

export const peers = (description: string) =>
  Type.Array(
    parts({
      ipBlock: ANYTHING,
      namespaceSelector: ANYTHING,
      podSelector: ANYTHING,
    }),
    { description, default: [] },
  )

export const port = Type.Integer({
  description:
    'Where the API server reaches a pod; another one where it is taken, as it may be on the network of the host.',
  default: 9443,
  minimum: 1024,
  maximum: 65535,
})
