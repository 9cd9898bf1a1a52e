import { type ObjectOptions, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { oneOf } from '../../api/schema-parts.ts'

/** A map with these members, and no others. */
export const closed = <Members extends TProperties>(members: Members, options?: ObjectOptions) =>
  Type.Object(members, { additionalProperties: false, ...options })

/** A member that may be left out: it then has the default that its schema states. */
export const defaulted = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(schema) as unknown as Schema

/** Something whose schema stands among the definitions of the whole. */
export const defined = <T>(name: string) => Type.Unsafe<T>({ $ref: `#/definitions/${name}` })

export const assetName = (description?: string) =>
  Type.String({
    pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
    ...(description !== undefined && { description }),
  })

export const reason = (description: string) =>
  Type.String({ maxLength: 70, pattern: '^[a-z0-9].*[^.\\s]$', description })

export const pointer = (description?: string) =>
  Type.String({
    pattern: '^(/([^/~]|~[01])*)+$',
    ...(description !== undefined && { description }),
  })

export const API_GROUP = Type.String({
  description: 'API group of the object; empty for the core group.',
  pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$',
})

export const API_KIND = Type.String({
  description: 'The kind, as in `kind:` of a manifest.',
  pattern: '^[A-Z][A-Za-z0-9]*$',
})

export const apiVersions = (description: string) =>
  Type.Array(Type.String({ pattern: '^v[0-9]+((alpha|beta)[0-9]+)?$' }), {
    minItems: 1,
    uniqueItems: true,
    description,
  })

/** The identity of an object. */
export const object = (description: string) =>
  closed(
    {
      group: API_GROUP,
      versions: apiVersions(
        'API versions that the template can write, newest first; the first one served is used.',
      ),
      kind: API_KIND,
      resource: Type.String({
        description: 'The plural name in the API, as RBAC rules and webhook rules want it.',
        pattern: '^[a-z0-9]+$',
      }),
      namespace: Type.Optional(
        Type.String({
          description:
            'Namespace of the object; left out for cluster scope. $hco stands for the namespace of the HyperConverged, $autopilot for our own.',
          pattern: '^(\\$hco|\\$autopilot|[a-z0-9]([a-z0-9-]*[a-z0-9])?)$',
          maxLength: 63,
        }),
      ),
      name: Type.String({
        description: 'Name of the object.',
        // RBAC objects may have colons in their names.
        pattern: '^[a-z0-9]([a-z0-9.:-]*[a-z0-9])?$',
        maxLength: 253,
      }),
    },
    { description },
  )

/** What assets and tombstones have in common. */
export const COMMON = {
  group: assetName(
    'Assets that belong together; usable in place of a name in allow lists and exclusion globs.',
  ),
  disruption: defaulted(
    oneOf(['none', 'reboot'], {
      description: 'What a change of the object does to nodes. reboot needs a pool.',
      default: 'none',
    }),
  ),
  pool: Type.Optional(
    Type.String({
      description: 'The MachineConfigPool whose nodes reboot.',
      pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
      maxLength: 253,
    }),
  ),
  links: defaulted(
    Type.Array(Type.String({ pattern: '^https://[^\\s]+$' }), {
      description: 'Public documentation that the content follows: its source of truth.',
      default: [],
      uniqueItems: true,
    }),
  ),
}
