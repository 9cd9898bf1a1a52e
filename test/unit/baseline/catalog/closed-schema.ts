import { Ajv } from 'ajv'

import { isMap } from '../../../../src/shared/engine/json/object.ts'

/** Finds what a schema does not admit, members that it does not name included, as the API server's strict validation has it. */
export function validatorOf(schema: object): (value: unknown) => readonly string[] {
  const validate = ajv.compile(closed(schema) as object)
  return (value) => {
    validate(value)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
}

// Patterns are written for Go, where a flag may stand within.
const IGNORING_CASE = '(?i)'
const regExp = Object.assign(
  (pattern: string, flags: string) =>
    pattern.includes(IGNORING_CASE)
      ? new RegExp(pattern.replace(IGNORING_CASE, ''), `${flags}i`)
      : new RegExp(pattern, flags),
  { code: 'regExp' },
)

const ajv = new Ajv({
  strict: false,
  allErrors: true,
  validateFormats: false,
  unicodeRegExp: false,
  code: { regExp },
})

/** The schema with every map closed whose members it lists. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isMap(schema)) return schema
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, closed(member)]),
  )
  const isOpen =
    'additionalProperties' in schema || schema['x-kubernetes-preserve-unknown-fields'] === true
  return isMap(schema.properties) && schema.type === 'object' && !isOpen
    ? { ...members, additionalProperties: false }
    : members
}
