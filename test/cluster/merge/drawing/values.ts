import fc from 'fast-check'
import type { Schema } from '../../../../src/shared/engine/merge/tree-of.ts'

const WORDS = ['a', 'b', 'c', 'd']
/** How many numbers there are to draw from: few, so that two objects meet. */
const SPREAD = 3

const BY_FORMAT: Readonly<Record<string, readonly string[]>> = {
  byte: ['YQ==', 'YmI='],
  cidr: ['10.0.0.0/8', '192.0.2.0/24'],
  date: ['2024-02-29', '2025-01-01'],
  'date-time': ['2024-02-29T12:00:00Z', '2025-01-01T00:00:00Z'],
  duration: ['90s', '1m30s', '1h'],
  email: ['a@example.com', 'b@example.com'],
  ip: ['192.0.2.1', '192.0.2.2'],
  ipv4: ['192.0.2.1', '192.0.2.2'],
  uri: ['https://a.example.com/', 'https://b.example.com/'],
  uuid: ['8f2b3f7e-0000-4000-8000-000000000001', '8f2b3f7e-0000-4000-8000-000000000002'],
}

/** A few values of a scalar's schema, those that are often refused left out; undefined where it is none. */
export const scalarsOf = (schema: Schema): fc.Arbitrary<unknown> | undefined => {
  if (Array.isArray(schema.enum)) return fc.constantFrom<unknown>(...schema.enum)
  if (isIntOrString(schema)) {
    const texts = schema.pattern ? stringsOf(schema) : fc.constantFrom('1', '50%', 'a')
    return fc.oneof(integersOf(schema), texts)
  }
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'integer') return integersOf(schema)
  if (schema.type === 'string') return stringsOf(schema)
  return schema.type === 'number' ? numbersOf(schema) : undefined
}

/** Whether the schema takes a number and a text alike, in the words of a CRD or of a built-in kind. */
export const isIntOrString = (schema: Schema) =>
  schema['x-kubernetes-int-or-string'] === true ||
  (schema.type === undefined && Array.isArray(schema.oneOf))

const integersOf = (schema: Schema) => {
  const { min, max } = boundsOf(schema)
  return fc.integer({ min: Math.ceil(min), max: Math.floor(Math.min(max, min + SPREAD)) })
}

const numbersOf = (schema: Schema) => {
  const { min, max } = boundsOf(schema)
  const numbers = [0.25, 0.5, 1, 1.5, 2, 3].filter((number) => min <= number && number <= max)
  return fc.constantFrom(...(numbers.length > 0 ? numbers : [min]))
}

const boundsOf = ({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema) => ({
  min: Math.min(Number(minimum), Number(maximum)),
  max: Number(maximum),
})

const stringsOf = ({ format = '', pattern, minLength = 0, maxLength = 64 }: Schema) => {
  const formatted = BY_FORMAT[String(format)]
  if (formatted) return fc.constantFrom(...formatted)
  if (typeof pattern === 'string') return matching(pattern, Number(minLength), Number(maxLength))
  const words = WORDS.map((word) => word.padEnd(Number(minLength), word))
  // Go writes this one by its code into the name of a list item.
  const odd = '<&>'.padEnd(Number(minLength), '>')
  return fc.oneof(
    { weight: 25, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: fc.constant(odd) },
  )
}

/** Texts that a pattern takes: short ones first, since those meet. */
const matching = (pattern: string, minLength: number, maxLength: number) => {
  // Go has it that case does not matter; a text of the case that is written fits all the same.
  const expression = new RegExp(pattern.replace('(?i)', ''))
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && expression.test(text)
  const simple = ['a', 'b', 'aa', 'a1', 'a.b', '1', '2', '10', '1s', '5m', '50%', 'A'].filter(fits)
  const any = fc.stringMatching(expression, { size: 'xsmall' }).filter(fits)
  return simple.length > 1 ? fc.oneof(fc.constantFrom(...simple), any) : any
}
