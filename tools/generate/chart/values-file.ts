import type { TSchema } from '@sinclair/typebox'
import { stringify } from 'yaml'
import { CHART_NOTICE } from './chart-notice.ts'
import { valuesSchema } from './values-schema.ts'

const WIDTH = 120

/** charts/…/values.yaml: every value with what it means and what it is unless somebody says otherwise. */
export const valuesFile = (schema: TSchema = valuesSchema) =>
  `# ${CHART_NOTICE}\n\n${linesOf(schema, 0).join('\n')}\n`

function linesOf({ properties = {} }: TSchema, depth: number): readonly string[] {
  const members = Object.entries(properties as Record<string, TSchema>)
  const stated = members.filter(([, member]) => 'default' in member || member.properties)
  return stated.flatMap(([name, member], index) => {
    const indent = ' '.repeat(depth)
    const own =
      'default' in member
        ? stringify({ [name]: member.default }, { lineWidth: 0 })
            .trimEnd()
            .split('\n')
        : [`${name}:`]
    const isApart = depth === 0 && index > 0
    return [
      ...(isApart ? [''] : []),
      ...wrapped(member.description ?? '', WIDTH - depth - 2).map((line) => `${indent}# ${line}`),
      ...own.map((line) => indent + line),
      ...('default' in member ? [] : linesOf(member, depth + 2)),
    ]
  })
}

/** A text in lines of at most so many characters. */
const wrapped = (text: string, width: number): readonly string[] =>
  text.match(new RegExp(`\\S.{0,${width - 1}}(?=\\s|$)`, 'g')) ?? []
