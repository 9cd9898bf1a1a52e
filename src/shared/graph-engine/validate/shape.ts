import { formatValue } from '../../engine/format-value.ts'
import { isMap, type JsonMap } from '../../engine/json/object.ts'
import { nearest, suggesting } from '../../engine/nearest.ts'
import { below, type GraphProblem, type Place, problem } from './problem.ts'

/** Judges a value at its place. */
export type Check = (value: unknown, place: Place) => readonly GraphProblem[]

export const all =
  (...checks: readonly Check[]): Check =>
  (value, place) =>
    checks.flatMap((check) => check(value, place))

/** Text of this form; the name of the form completes "must be". */
export const text =
  (pattern: RegExp, form: string): Check =>
  (value, place) =>
    typeof value === 'string' && pattern.test(value)
      ? []
      : [problem(place, `must be ${form}, not ${formatValue('', value)}`)]

export const oneOf = (choices: readonly string[]): Check => {
  const known = choices.join(', ')
  return (value, place) => {
    if (choices.some((choice) => choice === value)) return []
    const near = typeof value === 'string' ? nearest(value, choices) : undefined
    const sentence = `must not be ${formatValue('', value)}`
    return [problem(place, suggesting(sentence, near, `it is one of ${known}`))]
  }
}

/** The same check of each item of a list. */
export const listOf =
  (check: Check): Check =>
  (value, place) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, below(place, index)))
      : [problem(place, `must be a list, not ${formatValue('', value)}`)]

export interface Members {
  readonly required?: Readonly<Record<string, Check>>
  readonly optional?: Readonly<Record<string, Check>>
}

/** A map with these members and no others. */
export const mapOf =
  ({ required = {}, optional = {} }: Members): Check =>
  (value, place) => {
    if (!isMap(value)) return [problem(place, `must be a map, not ${formatValue('', value)}`)]
    const known = { ...required, ...optional }
    return [
      ...missingIn(value, Object.keys(required), place),
      ...Object.entries(value).flatMap(([name, member]) =>
        Object.hasOwn(known, name)
          ? (known[name]?.(member, below(place, name)) ?? [])
          : [unknownMember(name, Object.keys(known), below(place, name))],
      ),
    ]
  }

/** A map in which these members are there and of this form; others are not looked at. */
export const mapWith =
  (required: Readonly<Record<string, Check>>): Check =>
  (value, place) => {
    if (!isMap(value)) return [problem(place, `must be a map, not ${formatValue('', value)}`)]
    return [
      ...missingIn(value, Object.keys(required), place),
      ...Object.entries(required).flatMap(([name, check]) =>
        Object.hasOwn(value, name) ? check(value[name], below(place, name)) : [],
      ),
    ]
  }

const missingIn = (map: JsonMap, names: readonly string[], place: Place) =>
  names.flatMap((name) =>
    Object.hasOwn(map, name) ? [] : [problem(below(place, name), 'is required')],
  )

const unknownMember = (name: string, known: readonly string[], place: Place) =>
  problem(
    place,
    suggesting('is no field of this', nearest(name, known), `known are ${known.join(', ')}`),
  )
