/** Parts that several schemas of the catalog share. */
export const ASSET_NAME = { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' } as const

export const REASON = { type: 'string', maxLength: 70, pattern: '^[a-z0-9].*[^.\\s]$' } as const

export const POINTER = { type: 'string', pattern: '^(/([^/~]|~[01])*)+$' } as const

export const API_GROUP = {
  description: 'API group of the object; empty for the core group.',
  type: 'string',
  pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$',
} as const

export const API_KIND = {
  description: 'The kind, as in `kind:` of a manifest.',
  type: 'string',
  pattern: '^[A-Z][A-Za-z0-9]*$',
} as const

export const API_VERSIONS = {
  type: 'array',
  items: { type: 'string', pattern: '^v[0-9]+((alpha|beta)[0-9]+)?$' },
  minItems: 1,
  uniqueItems: true,
} as const

export const MATURITY = {
  description:
    'How far the content has come: what is alpha or beta may still change from one release to the next.',
  enum: ['alpha', 'beta', 'stable'],
  default: 'stable',
} as const

export const OBJECT = {
  type: 'object',
  additionalProperties: false,
  required: ['group', 'versions', 'kind', 'resource', 'name'],
  properties: {
    group: API_GROUP,
    versions: {
      ...API_VERSIONS,
      description:
        'API versions that the template can write, newest first; the first one served is used.',
    },
    kind: API_KIND,
    resource: {
      description: 'The plural name in the API, as RBAC rules and webhook rules want it.',
      type: 'string',
      pattern: '^[a-z0-9]+$',
    },
    namespace: {
      description:
        'Namespace of the object; left out for cluster scope. $hco stands for the namespace of the HyperConverged, $autopilot for our own.',
      type: 'string',
      pattern: '^(\\$hco|\\$autopilot|[a-z0-9]([a-z0-9-]*[a-z0-9])?)$',
      maxLength: 63,
    },
    name: {
      description: 'Name of the object.',
      type: 'string',
      // RBAC objects may have colons in their names.
      pattern: '^[a-z0-9]([a-z0-9.:-]*[a-z0-9])?$',
      maxLength: 253,
    },
  },
}

export const DISRUPTION = {
  disruption: {
    description: 'What a change of the object does to nodes. reboot needs a pool.',
    enum: ['none', 'reboot'],
    default: 'none',
  },
  pool: {
    description: 'The MachineConfigPool whose nodes reboot.',
    type: 'string',
    pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
    maxLength: 253,
  },
}

export const POOL_OF_WHAT_REBOOTS = {
  if: { properties: { disruption: { const: 'reboot' } }, required: ['disruption'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  then: { required: ['pool'] },
  else: { not: { description: 'have a pool, since it reboots nothing', required: ['pool'] } },
}

export const LINKS = {
  description: 'Public documentation that the content follows: its source of truth.',
  type: 'array',
  default: [],
  uniqueItems: true,
  items: { type: 'string', pattern: '^https://[^\\s]+$' },
}

export const GROUP = {
  ...ASSET_NAME,
  description:
    'Assets that belong together; usable in place of a name in allow lists and exclusion globs.',
}
