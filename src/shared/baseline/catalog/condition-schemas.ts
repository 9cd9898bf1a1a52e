import {
  type ObjectOptions,
  type Static,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'
import { type Frozen, oneOf } from '../../api/schema-parts.ts'
import { DETECTORS, TOPOLOGY_FIELDS, type TopologyField } from '../facts/facts.ts'
import { ANNOTATION_FORMATS, type AnnotationFormat } from './annotation-formats.ts'
import { API_GROUP, API_KIND, apiVersions, assetName, closed, pointer } from './schema-parts.ts'

const condition = <const T extends string, Members extends TProperties>(
  type: T,
  members: Members,
  options: ObjectOptions,
) =>
  closed(
    {
      type: Type.Unsafe<T>({ description: 'The kind of condition.', const: type }),
      ...members,
      not: Type.Optional(
        Type.Boolean({
          description: 'Turns the condition around: it holds when it otherwise would not.',
        }),
      ),
    },
    options,
  )

interface TopologyValue {
  readonly type: 'topology'
  readonly not?: boolean
}

const FORMATS = Object.keys(ANNOTATION_FORMATS) as AnnotationFormat[]

/** The JSON schema of each type of condition, by its name. */
export const conditionSchemas = {
  crd: condition(
    'crd',
    {
      group: API_GROUP,
      kind: API_KIND,
      versions: Type.Optional(
        apiVersions('Versions of which at least one must be served; any, if left out.'),
      ),
      offers: Type.Optional(
        closed(
          {
            field: pointer('RFC 6901 pointer to a field of the object.'),
            anyOf: Type.Optional(
              Type.Array(Type.String({ minLength: 1 }), {
                description:
                  'Values of which the enum of the field, or of its items, must hold at least one.',
                minItems: 1,
                uniqueItems: true,
              }),
            ),
          },
          { description: 'What the served schema must offer: a field, or values of its enum.' },
        ),
      ),
    },
    {
      description:
        'An API other than the asset’s own must be served, or its schema must offer something.',
    },
  ),
  annotation: condition(
    'annotation',
    {
      key: assetName('Name of the annotation, without its prefix platform.kubevirt.io/.'),
      value: Type.Optional(
        Type.String({
          description:
            'The exact value that it must have; "true", if neither it nor a format is stated.',
        }),
      ),
      format: Type.Optional(
        oneOf(FORMATS, {
          description:
            'What its value must be, whatever it is. One that is not refuses the write, or, stored already, holds the object as it is.',
        }),
      ),
      gate: Type.Optional(
        Type.String({
          description:
            'A feature gate of the HyperConverged, in its exact case, that says the same where there is no such annotation.',
          minLength: 1,
        }),
      ),
    },
    {
      description: 'The HyperConverged must carry an annotation.',
      not: {
        description: 'state a format, and a value or a feature gate besides',
        required: ['format'],
        anyOf: [{ required: ['value'] }, { required: ['gate'] }],
      },
    },
  ),
  'hardware-detection': condition(
    'hardware-detection',
    { detector: oneOf(DETECTORS, { description: 'Which hardware fact must be true.' }) },
    { description: 'Some node must have this hardware.' },
  ),
  topology: Type.Unsafe<
    TopologyValue &
      (
        | { readonly field: TopologyField; readonly value?: boolean }
        | { readonly field: 'provider'; readonly value: string }
      )
  >(
    condition(
      'topology',
      {
        field: oneOf([...TOPOLOGY_FIELDS, 'provider'], {
          description: 'Which fact of the topology is compared.',
        }),
        value: Type.Optional(
          Type.Unsafe<boolean | string>({
            description:
              'The value that the fact must have: true or false, or for provider a platform in lower case.',
            type: ['boolean', 'string'],
          }),
        ),
      },
      {
        description: 'The cluster must have this shape.',
        allOf: [
          {
            if: { properties: { field: { const: 'provider' } }, required: ['field'] },
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
            then: {
              required: ['value'],
              properties: { value: { type: 'string', pattern: '^[a-z0-9]+$' } },
            },
            else: { properties: { value: { type: 'boolean' } } },
          },
        ],
      },
    ),
  ),
  'feature-gate': condition(
    'feature-gate',
    {
      name: Type.String({
        description: 'Name of the feature gate, in its exact case.',
        minLength: 1,
      }),
    },
    { description: 'A feature gate of the HyperConverged must be on.' },
  ),
  image: condition(
    'image',
    { key: assetName('The image: RELATED_IMAGE_<KEY> in lower case, with dashes.') },
    { description: 'A container image must be known.' },
  ),
  'hco-field-unconfigured': condition(
    'hco-field-unconfigured',
    { pointer: pointer('RFC 6901 pointer into the spec of the HyperConverged.') },
    { description: 'The admin must have left a field of the HyperConverged alone.' },
  ),
} as const satisfies Readonly<Record<string, TSchema>>

type Schemas = typeof conditionSchemas

/** One thing that must hold for an asset to be active. */
export type Condition = Frozen<{ [Type in keyof Schemas]: Static<Schemas[Type]> }[keyof Schemas]>
