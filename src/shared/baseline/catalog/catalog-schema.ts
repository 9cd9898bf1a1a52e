import { conditionSchemas } from './condition-schemas.ts'
import {
  ASSET_NAME,
  DISRUPTION,
  GROUP,
  LINKS,
  MATURITY,
  OBJECT,
  POINTER,
  POOL_OF_WHAT_REBOOTS,
  REASON,
} from './schema-parts.ts'

const INSTALL = {
  description:
    'always: wherever the conditions hold. opt-in: only where an annotation or feature-gate condition asks for it.',
  enum: ['always', 'opt-in'],
}

const CONDITIONS = {
  type: 'array',
  default: [],
  items: {
    oneOf: Object.keys(conditionSchemas).map((type) => ({ $ref: `#/definitions/${type}` })),
  },
}

const OPT_IN_HAS_ITS_CONDITION = {
  if: { properties: { install: { const: 'opt-in' } }, required: ['install'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  then: {
    required: ['conditions'],
    properties: {
      conditions: {
        type: 'array',
        contains: {
          type: 'object',
          properties: { type: { enum: ['annotation', 'feature-gate'] } },
          required: ['type'],
          not: { properties: { not: { const: true } }, required: ['not'] },
        },
      },
    },
  },
}

const IN_FOLDER = {
  not: { description: 'lead out of the folder', pattern: '(^|/)\\.\\.?(/|$)' },
}

/** Pointers by the name under which the template knows what they lead to. */
const byName = (description: string) => ({
  description,
  type: 'object',
  default: {},
  propertyNames: { pattern: '^[a-z][A-Za-z0-9]*$' },
  additionalProperties: POINTER,
})

const section = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'description', 'install'],
  properties: {
    name: {
      ...ASSET_NAME,
      description:
        'Name of the section, by which the template asks whether it applies: sections["…"].',
    },
    description: { ...REASON, description: 'The reason in one line, as of an asset.' },
    install: INSTALL,
    conditions: { ...CONDITIONS, description: 'All of these must hold for the section to apply.' },
    maturity: MATURITY,
  },
  allOf: [OPT_IN_HAS_ITS_CONDITION],
}

const asset = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'group', 'description', 'template', 'object', 'install', 'order'],
  properties: {
    name: {
      ...ASSET_NAME,
      description:
        'Unique name of the asset: what people write in the autopilot and disabled-resources annotations.',
    },
    group: GROUP,
    description: {
      ...REASON,
      description:
        'The reason in one line, as messages show it: lower case at the start, no full stop.',
    },
    maturity: MATURITY,
    template: {
      description: 'The EJS template of the object, relative to this folder.',
      type: 'string',
      pattern: '^active/[A-Za-z0-9._/-]+\\.yaml\\.ejs$',
      ...IN_FOLDER,
    },
    files: {
      description: "Plain files that the template may read with file('…'), under the same names.",
      type: 'array',
      items: {
        type: 'string',
        pattern: '^active/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$',
        ...IN_FOLDER,
      },
      uniqueItems: true,
      default: [],
    },
    object: { ...OBJECT, description: 'The one object that the asset yields.' },
    install: INSTALL,
    order: {
      description:
        'Assets are reconciled in ascending order; 0 is the HyperConverged, which the facts of the others are read from.',
      type: 'integer',
      minimum: 0,
    },
    conditions: {
      ...CONDITIONS,
      description: 'All of these must hold for the asset to be active.',
    },
    needs: {
      ...ASSET_NAME,
      description:
        'Name of an asset whose object this one refers to: this one is not active without that one, and not created before it.',
    },
    yieldsTo: {
      ...ASSET_NAME,
      description:
        'Name of an asset that would do the same work: while that one is active, this one is not, and its object is deleted. That one needs something that this one does not.',
    },
    sections: {
      description: 'Parts of the object that apply under conditions of their own.',
      type: 'array',
      default: [],
      items: { $ref: '#/definitions/section' },
    },
    hcoFields: {
      description:
        'The fields of the HyperConverged’s spec that the template reads: RFC 6901 pointers into the spec. facts.hco.spec holds these and no others, so that a write to any other field renders nothing anew.',
      type: 'array',
      default: [],
      uniqueItems: true,
      items: { type: 'string', pattern: '^(/[^/]+)+$' },
    },
    enums: byName(
      'Enums of the served schema for the template, by the name that it reads them by (enums.<name>): RFC 6901 pointers to a field; of a list, the enum of its items.',
    ),
    fields: byName(
      'Fields that not every version of the API has, by the name under which the template asks whether the served schema offers them (fields.<name>).',
    ),
    ...DISRUPTION,
    sensitive: {
      description:
        'Marks content that grants power over nodes or access, where the kind does not say so: no patch override.',
      type: 'boolean',
      default: false,
    },
    enforcement: {
      description:
        'What happens to an edit of a managed field, unless the HyperConverged or the flag says otherwise: correct if left out. Sensitive and disruptive assets are always denied.',
      enum: ['correct', 'deny'],
    },
    links: LINKS,
    prune: {
      description:
        'Deletes the object once a condition of the asset is false. By default it stays, left over: deleting it could reboot nodes or end a service.',
      type: 'boolean',
      default: false,
    },
  },
  allOf: [POOL_OF_WHAT_REBOOTS, OPT_IN_HAS_ITS_CONDITION],
}

const tombstone = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'group', 'description', 'object'],
  properties: {
    name: { ...ASSET_NAME, description: 'Unique name, as of an asset.' },
    group: GROUP,
    description: {
      ...REASON,
      description:
        'Why the object is not wanted any more, in one line: lower case at the start, no full stop.',
    },
    object: { ...OBJECT, description: 'The object to delete.' },
    ...DISRUPTION,
    links: LINKS,
  },
  allOf: [POOL_OF_WHAT_REBOOTS],
}

/** The JSON schema (draft 7) of a catalog.yaml. */
export const catalogSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Catalog of the virt-platform-autopilot',
  description: 'Which objects the autopilot keeps, when and why.',
  type: 'object',
  additionalProperties: false,
  required: ['assets'],
  properties: {
    assets: {
      description: 'One entry per object, each with a unique name.',
      type: 'array',
      items: { $ref: '#/definitions/asset' },
    },
    tombstones: {
      description:
        'Objects that earlier versions kept and that are now deleted: exactly these, and only while they bear our label.',
      type: 'array',
      default: [],
      items: { $ref: '#/definitions/tombstone' },
    },
  },
  definitions: { asset, section, tombstone, ...conditionSchemas },
}
