import { DETECTORS, TOPOLOGY_FIELDS } from '../facts/facts.ts'
import { ANNOTATION_FORMATS } from './annotation-formats.ts'
import { API_GROUP, API_KIND, API_VERSIONS, ASSET_NAME, POINTER } from './schema-parts.ts'

interface ConditionSchema {
  readonly description: string
  readonly required: readonly string[]
  readonly properties: Readonly<Record<string, object>>
  readonly [keyword: string]: unknown
}

/** The JSON schema of each type of condition, by its name. */
export const conditionSchemas: Readonly<Record<string, object>> = {
  crd: condition('crd', {
    description:
      'An API other than the asset’s own must be served, or its schema must offer something.',
    required: ['group', 'kind'],
    properties: {
      group: API_GROUP,
      kind: API_KIND,
      versions: {
        ...API_VERSIONS,
        description: 'Versions of which at least one must be served; any, if left out.',
      },
      offers: {
        description: 'What the served schema must offer: a field, or values of its enum.',
        type: 'object',
        additionalProperties: false,
        required: ['field'],
        properties: {
          field: { ...POINTER, description: 'RFC 6901 pointer to a field of the object.' },
          anyOf: {
            description:
              'Values of which the enum of the field, or of its items, must hold at least one.',
            type: 'array',
            items: { type: 'string', minLength: 1 },
            minItems: 1,
            uniqueItems: true,
          },
        },
      },
    },
  }),
  annotation: condition('annotation', {
    description: 'The HyperConverged must carry an annotation.',
    required: ['key'],
    properties: {
      key: {
        ...ASSET_NAME,
        description: 'Name of the annotation, without its prefix platform.kubevirt.io/.',
      },
      value: {
        description:
          'The exact value that it must have; "true", if neither it nor a format is stated.',
        type: 'string',
      },
      format: {
        description:
          'What its value must be, whatever it is. One that is not refuses the write, or, stored already, holds the object as it is.',
        enum: Object.keys(ANNOTATION_FORMATS),
      },
    },
    not: { description: 'state both a value and a format', required: ['value', 'format'] },
  }),
  'hardware-detection': condition('hardware-detection', {
    description: 'Some node must have this hardware.',
    required: ['detector'],
    properties: {
      detector: { description: 'Which hardware fact must be true.', enum: DETECTORS },
    },
  }),
  topology: condition('topology', {
    description: 'The cluster must have this shape.',
    required: ['field'],
    properties: {
      field: {
        description: 'Which fact of the topology is compared.',
        enum: [...TOPOLOGY_FIELDS, 'provider'],
      },
      value: {
        description:
          'The value that the fact must have: true or false, or for provider a platform in lower case.',
        type: ['boolean', 'string'],
      },
    },
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
  }),
  'feature-gate': condition('feature-gate', {
    description: 'A feature gate of the HyperConverged must be on.',
    required: ['name'],
    properties: {
      name: {
        description: 'Name of the feature gate, in its exact case.',
        type: 'string',
        minLength: 1,
      },
    },
  }),
  image: condition('image', {
    description: 'A container image must be known.',
    required: ['key'],
    properties: {
      key: {
        ...ASSET_NAME,
        description: 'The image: RELATED_IMAGE_<KEY> in lower case, with dashes.',
      },
    },
  }),
  'hco-field-unconfigured': condition('hco-field-unconfigured', {
    description: 'The admin must have left a field of the HyperConverged alone.',
    required: ['pointer'],
    properties: {
      pointer: {
        ...POINTER,
        description: 'RFC 6901 pointer into the spec of the HyperConverged.',
      },
    },
  }),
}

function condition(
  type: string,
  { description, required, properties, ...keywords }: ConditionSchema,
): object {
  return {
    description,
    type: 'object',
    additionalProperties: false,
    required: ['type', ...required],
    properties: {
      type: { description: 'The kind of condition.', const: type },
      ...properties,
      not: {
        description: 'Turns the condition around: it holds when it otherwise would not.',
        type: 'boolean',
        default: false,
      },
    },
    ...keywords,
  }
}
