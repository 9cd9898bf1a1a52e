import { type Static, Type } from '@sinclair/typebox'
import { type Frozen, oneOf } from '../../api/schema-parts.ts'
import { type Condition, conditionSchemas } from './condition-schemas.ts'
import {
  assetName,
  COMMON,
  closed,
  defaulted,
  defined,
  object,
  pointer,
  reason,
} from './schema-parts.ts'

const INSTALL = oneOf(['always', 'opt-in'], {
  description:
    'always: wherever the conditions hold. opt-in: only where an annotation or feature-gate condition asks for it.',
})

const MATURITY = oneOf(['alpha', 'beta', 'stable'], {
  description:
    'How far the content has come: what is alpha or beta may still change from one release to the next.',
  default: 'stable',
})

const conditions = (description: string) =>
  Type.Array(
    Type.Unsafe<Condition>({
      type: 'object',
      discriminator: { propertyName: 'type' },
      oneOf: Object.keys(conditionSchemas).map((type) => ({ $ref: `#/definitions/${type}` })),
    }),
    { default: [], description },
  )

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

const POOL_OF_WHAT_REBOOTS = {
  if: { properties: { disruption: { const: 'reboot' } }, required: ['disruption'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  then: { required: ['pool'] },
  else: { not: { description: 'have a pool, since it reboots nothing', required: ['pool'] } },
}

const IN_FOLDER = {
  not: { description: 'lead out of the folder', pattern: '(^|/)\\.\\.?(/|$)' },
}

/** Pointers by the name under which the template knows what they lead to. */
const byName = (description: string) =>
  Type.Unsafe<Record<string, string>>({
    description,
    type: 'object',
    default: {},
    propertyNames: { pattern: '^[a-z][A-Za-z0-9]*$' },
    additionalProperties: pointer(),
  })

const section = closed(
  {
    name: assetName(
      'Name of the section, by which the template asks whether it applies: sections["…"].',
    ),
    description: reason('The reason in one line, as of an asset.'),
    install: INSTALL,
    conditions: defaulted(conditions('All of these must hold for the section to apply.')),
    maturity: defaulted(MATURITY),
  },
  { allOf: [OPT_IN_HAS_ITS_CONDITION] },
)

const asset = closed(
  {
    name: assetName(
      'Unique name of the asset: what people write in the autopilot and disabled-resources annotations.',
    ),
    description: reason(
      'The reason in one line, as messages show it: lower case at the start, no full stop.',
    ),
    ...COMMON,
    maturity: defaulted(MATURITY),
    template: Type.String({
      description: 'The EJS template of the object, relative to this folder.',
      pattern: '^active/[A-Za-z0-9._/-]+\\.yaml\\.ejs$',
      ...IN_FOLDER,
    }),
    files: defaulted(
      Type.Array(
        Type.String({ pattern: '^active/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$', ...IN_FOLDER }),
        {
          description:
            "Plain files that the template may read with file('…'), under the same names.",
          uniqueItems: true,
          default: [],
        },
      ),
    ),
    object: object('The one object that the asset yields.'),
    install: INSTALL,
    order: Type.Integer({
      description:
        'Assets are reconciled in ascending order; 0 is the HyperConverged, which the facts of the others are read from.',
      minimum: 0,
    }),
    conditions: defaulted(conditions('All of these must hold for the asset to be active.')),
    needs: Type.Optional(
      assetName(
        'Name of an asset whose object this one refers to: this one is not active without that one, and not created before it.',
      ),
    ),
    yieldsTo: Type.Optional(
      assetName(
        'Name of an asset that would do the same work: while that one is active, this one is not, and its object is deleted. That one needs something that this one does not.',
      ),
    ),
    sections: defaulted(
      Type.Array(defined<Section>('section'), {
        description: 'Parts of the object that apply under conditions of their own.',
        default: [],
      }),
    ),
    hcoFields: defaulted(
      Type.Array(Type.String({ pattern: '^(/[^/]+)+$' }), {
        description:
          'The fields of the HyperConverged’s spec that the template reads: RFC 6901 pointers into the spec. facts.hco.spec holds these and no others, so that a write to any other field renders nothing anew.',
        default: [],
        uniqueItems: true,
      }),
    ),
    enums: defaulted(
      byName(
        'Enums of the served schema for the template, by the name that it reads them by (enums.<name>): RFC 6901 pointers to a field; of a list, the enum of its items.',
      ),
    ),
    fields: defaulted(
      byName(
        'Fields that not every version of the API has, by the name under which the template asks whether the served schema offers them (fields.<name>).',
      ),
    ),
    sensitive: defaulted(
      Type.Boolean({
        description:
          'Marks content that grants power over nodes or access, where the kind does not say so: no patch override.',
        default: false,
      }),
    ),
    enforcement: Type.Optional(
      oneOf(['correct', 'deny'], {
        description:
          'What happens to an edit of a managed field, unless the HyperConverged or the flag says otherwise: correct if left out. Sensitive and disruptive assets are always denied.',
      }),
    ),
    create: defaulted(
      Type.Boolean({
        description:
          'Whether the object is created where there is none. false: somebody else creates it, with what no baseline can know; it is kept while it exists.',
        default: true,
      }),
    ),
    prune: defaulted(
      Type.Boolean({
        description:
          'Deletes the object once a condition of the asset is false. By default it stays, left over: deleting it could reboot nodes or end a service.',
        default: false,
      }),
    ),
  },
  { allOf: [POOL_OF_WHAT_REBOOTS, OPT_IN_HAS_ITS_CONDITION] },
)

const tombstone = closed(
  {
    name: assetName('Unique name, as of an asset.'),
    description: reason(
      'Why the object is not wanted any more, in one line: lower case at the start, no full stop.',
    ),
    ...COMMON,
    object: object('The object to delete.'),
  },
  { allOf: [POOL_OF_WHAT_REBOOTS] },
)

const catalog = closed({
  assets: Type.Array(defined<AssetEntry>('asset'), {
    description: 'One entry per object, each with a unique name.',
  }),
  tombstones: defaulted(
    Type.Array(defined<TombstoneEntry>('tombstone'), {
      description:
        'Objects that earlier versions kept and that are now deleted: exactly these, and only while they bear our label.',
      default: [],
    }),
  ),
})

/** The JSON schema (draft 7) of a catalog.yaml. */
export const catalogSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Catalog of the virt-platform-autopilot',
  description: 'Which objects the autopilot keeps, when and why.',
  ...catalog,
  definitions: { asset, section, tombstone, ...conditionSchemas },
}

/** A part of an asset's object that applies under conditions of its own. */
export type Section = Frozen<Static<typeof section>>

/** An asset as a catalog.yaml has it, defaults filled in. */
export type AssetEntry = Frozen<Static<typeof asset>>

/** A tombstone likewise. */
export type TombstoneEntry = Frozen<Static<typeof tombstone>>

/** Which object an asset yields. `$hco` as namespace stands for the HyperConverged's, which only facts tell. */
export type ObjectIdentity = AssetEntry['object']

/** How far an asset has come: what is not stable may change from one release to the next. */
export type Maturity = AssetEntry['maturity']
