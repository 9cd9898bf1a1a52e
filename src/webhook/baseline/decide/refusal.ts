import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'

import { printableJson } from '../../../shared/baseline/kubectl.ts'
import { isDeeper } from '../../../shared/engine/json/json.ts'
import { isMap, type KubeObject } from '../../../shared/engine/json/object.ts'
import {
  formatPointer,
  MAX_DEPTH,
  parsePointer,
  valueAt,
} from '../../../shared/engine/json/pointer.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'

/** Of longer values, and of deep ones, nothing is said. */
const LONGEST_VALUE = 2_048

/**
 * Why the API server would store none of these edits, whatever annotation allowed them: the kind's schema refuses one. Undefined
 * where it does not, or where only the server can tell (rules that relate fields, types that the schema refers to).
 */
export function refusalOf(
  schema: unknown,
  object: KubeObject,
  drifts: readonly Drift[],
): string | undefined {
  for (const { pointer, found } of drifts) {
    if (isTooMuch(found)) continue
    const tokens = parsePointer(pointer)
    const refusal = tokens.ok ? refusalAt(schema, object, tokens.value, []) : undefined
    if (refusal !== undefined) return refusal
  }
  return undefined
}

const isTooMuch = (value: unknown) =>
  value !== undefined &&
  (isDeeper(value, MAX_DEPTH) || JSON.stringify(value).length > LONGEST_VALUE)

/** Follows a pointer through value and schema together, up to what it leads to or where the value ends. */
function refusalAt(
  schema: unknown,
  value: unknown,
  [token, ...rest]: readonly string[],
  above: readonly string[],
): string | undefined {
  // At its end, or where something else stands in the place of a container.
  if (token === undefined || typeof value !== 'object') return misfit(schema, value, above)
  const at = [...above, token]
  const member = valueAt(value, [token])
  if (member === undefined)
    return isRequired(schema, token) ? `${formatPointer(at)} is required` : undefined
  const part = Array.isArray(value) ? valueAt(schema, ['items']) : memberOf(schema, token)
  return refusalAt(part, member, rest, at)
}

const memberOf = (schema: unknown, name: string): unknown =>
  valueAt(schema, ['properties', name]) ?? valueAt(schema, ['additionalProperties'])

function isRequired(schema: unknown, name: string): boolean {
  const required = valueAt(schema, ['required'])
  return Array.isArray(required) && required.includes(name)
}

function misfit(schema: unknown, value: unknown, tokens: readonly string[]): string | undefined {
  // Null may be anything's absence.
  if (!isMap(schema) || value === null) return undefined
  const isOfType = TYPES.get(schema.type)
  // By hand: compiling the schema of a whole spec takes a quarter of a second.
  if (isOfType && !isOfType(value)) return `${formatPointer(tokens)} must be ${schema.type}`
  const validate = validatorOf(schema)
  if (!validate || validate(value)) return undefined
  const all = validate.errors ?? []
  const precise = all.filter(({ keyword }) => !/^(any|one|all)Of$/.test(keyword))
  const errors = precise.length > 0 ? precise : all
  const at = `${formatPointer(tokens)}${errors[0]?.instancePath ?? ''}`
  // Several only where any of several types would do.
  return `${at} ${[...new Set(errors.map(sentenceOn))].join(' or ')}`
}

const TYPES: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ['object', isMap as (value: unknown) => boolean],
  ['array', Array.isArray],
])

const sentenceOn = ({ keyword, params, message }: ErrorObject) =>
  keyword === 'enum'
    ? `must be one of ${params.allowedValues.map(printableJson).join(', ')}`
    : (message ?? 'is invalid')

// By part of a schema: what a newer definition replaces goes with its validators.
const validators = new WeakMap<object, ValidateFunction | 'unknown'>()

/** Undefined for what JSON Schema cannot say, or refers to what is not here: of that nothing is known. */
function validatorOf(schema: object): ValidateFunction | undefined {
  const validator = validators.get(schema) ?? compile(schema)
  validators.set(schema, validator)
  return validator === 'unknown' ? undefined : validator
}

function compile(schema: object): ValidateFunction | 'unknown' {
  try {
    // One for each: it holds for good whatever it has compiled.
    return new Ajv(LENIENT).compile(schema)
  } catch {
    return 'unknown'
  }
}

const LENIENT = {
  strict: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
} as const
