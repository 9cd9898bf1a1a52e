import { Ajv, type ErrorObject } from 'ajv'
import { definitionOf } from '../../../shared/api/custom-resource.ts'
import { formatValue } from '../../../shared/engine/format-value.ts'
import { isMap, type KubeObject, mapMembers, memberOf } from '../../../shared/engine/json/object.ts'
import { parsePointer, valueAt } from '../../../shared/engine/json/pointer.ts'
import { nearest, suggesting } from '../../../shared/engine/nearest.ts'
import type { Cause } from '../../../shared/graph/fault.ts'
import { OBJECT_NAME, TRANSFORM, type Transform } from '../../../shared/graph/transform.ts'

/** What in an object is not as the definition of Transform has it, in the words of its fields; nothing where it is one. */
export const schemaCauses = (object: KubeObject): readonly Cause[] =>
  validate(object)
    ? RULES.flatMap((rule) => rule((object as Transform).spec))
    : (validate.errors ?? []).map(causeOf)

/** The schema with no fields but those that it names: kubectl has the API server refuse all others. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (!isMap(schema)) return schema
  const inner = mapMembers(schema, strict)
  return isMap(schema.properties) ? { ...inner, additionalProperties: false } : inner
}

const SCHEMA = valueAt(definitionOf(TRANSFORM), ['spec', 'versions', '0', 'schema'])
const ajv = new Ajv({ strict: false, allErrors: true, verbose: true, validateFormats: false })
const validate = ajv.compile(strict(memberOf(SCHEMA, 'openAPIV3Schema')) as object)

function causeOf(error: ErrorObject): Cause {
  const tokens = parsePointer(error.instancePath)
  const path = tokens.ok ? tokens.value : []
  const { missingProperty, additionalProperty } = error.params as Readonly<Record<string, string>>
  const name = missingProperty ?? additionalProperty
  const message = sentenceOn(error, additionalProperty)
  return { field: fieldOf(name === undefined ? path : [...path, name]), message }
}

/** A field as the API server names it: `spec.policies[0].name`. */
const fieldOf = (path: readonly string[]) =>
  path
    .map((token) => (/^\d+$/.test(token) ? `[${token}]` : `.${token}`))
    .join('')
    .slice(1)

function sentenceOn(
  { keyword, data, params, parentSchema, message = '' }: ErrorObject,
  unknown = '',
) {
  const value = formatValue('', data)
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties': {
      const known = Object.keys((parentSchema?.properties ?? {}) as object)
      return suggesting(
        'is no field of this',
        nearest(unknown, known),
        `known are ${known.join(', ')}`,
      )
    }
    case 'enum': {
      const words = params.allowedValues as readonly string[]
      const near = typeof data === 'string' ? nearest(data, words) : undefined
      return suggesting(`must not be ${value}`, near, `it is one of ${words.join(', ')}`)
    }
    case 'type':
      return `must be of type ${params.type}, not ${value}`
    case 'pattern':
      return `must match ${params.pattern}, not ${value}`
    default:
      return message.replace('NOT', 'not')
  }
}

type Rule = (spec: Transform['spec']) => readonly Cause[]

const NAME = new RegExp(OBJECT_NAME)

/** What the definition says in CEL and by the keys of lists. */
const RULES: readonly Rule[] = [
  ({ cueRef: { type, ref } }) =>
    type === 'inline' || (ref.length <= 253 && NAME.test(ref))
      ? []
      : [
          {
            field: 'spec.cueRef.ref',
            message: 'must be a name: lowercase letters, digits, - and .',
          },
        ],
  ({ cueRef: { type, path } }) =>
    type !== 'inline' || path === undefined
      ? []
      : [{ field: 'spec.cueRef.path', message: 'an inline module is one file and has no folders' }],
  ({ policies = [] }) =>
    policies.flatMap(({ name }, index) =>
      policies.findIndex((policy) => policy.name === name) === index
        ? []
        : [{ field: `spec.policies[${index}].name`, message: `${name} is there already` }],
    ),
]
