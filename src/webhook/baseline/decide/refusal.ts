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

/** Of longer values, and of deep ones, nothing is said: a schema's patterns may take more than linear time. */
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
  const validate = isMap(schema) ? validatorOf(schema) : undefined
  if (!validate || validate(value)) return undefined
  const errors = (validate.errors ?? []).filter(({ keyword }) => !/^(any|one|all)Of$/.test(keyword))
  const at = `${formatPointer(tokens)}${errors[0]?.instancePath ?? ''}`
  // Several only where any of several types would do.
  return `${at} ${[...new Set(errors.map(sentenceOn))].join(' or ')}`
}

const sentenceOn = ({ keyword, params, message }: ErrorObject) =>
  keyword === 'enum'
    ? `must be one of ${params.allowedValues.map(printableJson).join(', ')}`
    : (message ?? 'is invalid')

const ajv = new Ajv({
  strict: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  // Patterns are written for another engine, which knows more escapes.
  unicodeRegExp: false,
  logger: false,
})

/** Undefined for what JSON Schema cannot say, or refers to what is not here: of that nothing is known. */
function validatorOf(schema: object): ValidateFunction | undefined {
  try {
    return ajv.compile(schema)
  } catch {
    return undefined
  }
}
