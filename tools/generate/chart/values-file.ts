import type { TSchema } from '@sinclair/typebox'
import { stringify } from 'yaml'
import { CHART_NOTICE } from './chart-notice.ts'
import { valuesSchema } from './values-schema.ts'

const WIDTH = 120

/**
 * charts/…/values.yaml: every value with what it means and what it is unless somebody says otherwise.
 *
 * @throws where a value has no description, naming it
 */
export const valuesFile = (schema: TSchema = valuesSchema) =>
  `# ${CHART_NOTICE}\n\n${linesOf(schema, []).join('\n')}\n`

function linesOf({ properties = {} }: TSchema, path: readonly string[]): readonly string[] {
  const members = Object.entries(properties as Record<string, TSchema>)
  const stated = members.filter(([, member]) => 'default' in member || member.properties)
  return stated.flatMap(([name, member], index) => {
    const isApart = path.length === 0 && index > 0
    return [...(isApart ? [''] : []), ...linesOfOne(member, [...path, name])]
  })
}

function linesOfOne(member: TSchema, path: readonly string[]): readonly string[] {
  const { description = '', default: byDefault } = member
  const name = path.at(-1) ?? ''
  const isGroup = !('default' in member)
  if (!isGroup && description === '')
    throw new Error(`the value ${path.join('.')} has no description: say what it is`)
  const own = isGroup ? `${name}:` : stringify({ [name]: byDefault }, { lineWidth: 0 }).trimEnd()
  const indent = '  '.repeat(path.length - 1)
  const comment = wrapped(description, WIDTH - indent.length - 2).map((line) => `# ${line}`)
  return [
    ...[...comment, ...own.split('\n')].map((line) => indent + line),
    ...(isGroup ? linesOf(member, path) : []),
  ]
}

/** A text in lines of at most so many characters. */
const wrapped = (text: string, width: number): readonly string[] =>
  text.match(new RegExp(`\\S.{0,${width - 1}}(?=\\s|$)`, 'g')) ?? []
