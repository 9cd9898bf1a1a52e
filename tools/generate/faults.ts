import { stripTypeScriptTypes } from 'node:module'
import { type AnyNode, type CallExpression, type ObjectExpression, parse } from 'acorn'
import { markdownTable } from './markdown-table.ts'

/** A test file, by its path in the repository. */
export interface TestSource {
  readonly path: string
  readonly text: string
}

const CALLED = 'faultTest'
const MEMBERS = ['part', 'fault', 'outcome'] as const
// As the cluster is built: from what everything stands on to who comes from outside.
const PARTS = [
  'API server',
  'reconciler',
  'webhook',
  'certificates',
  'uninstall',
  'hostile callers',
]

/** The table of what breaks and what comes of it, one row for each call of `faultTest`, in the order of the parts. */
export function faultTable(sources: readonly TestSource[]): string {
  const rows = sources.flatMap((source) =>
    faultsIn(source).map((cells) => [...cells, `\`${source.path}\``]),
  )
  const place = ([part = '']: readonly string[]) => PARTS.indexOf(part)
  const sorted = rows.toSorted((a, b) => place(a) - place(b))
  return markdownTable(['part', 'what breaks', 'what happens', 'shown by'], sorted)
}

function faultsIn({ path, text }: TestSource): readonly (readonly string[])[] {
  const program = parse(stripTypeScriptTypes(text), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
  })
  return [...nodesIn(program)].filter(isFaultTest).map((call) => {
    const [, declared] = call.arguments
    const values = declared?.type === 'ObjectExpression' ? MEMBERS.map(textOf(declared)) : []
    const isKnown = PARTS.includes(values[0] ?? '')
    if (!isKnown || values.length < MEMBERS.length || values.includes(undefined))
      throw new Error(
        `${path}:${call.loc?.start.line}: ${CALLED} needs an object with ${MEMBERS.join(', ')} written out, the part one of ${PARTS.join(', ')}`,
      )
    return values.map((value) => value ?? '')
  })
}

const isFaultTest = (node: AnyNode): node is CallExpression =>
  node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === CALLED

const textOf = (declared: ObjectExpression) => (member: string) => {
  const property = declared.properties.find(
    (one) => one.type === 'Property' && one.key.type === 'Identifier' && one.key.name === member,
  )
  const value = property?.type === 'Property' ? property.value : undefined
  if (value?.type === 'Literal') return String(value.value)
  const isWhole = value?.type === 'TemplateLiteral' && value.expressions.length === 0
  return isWhole ? (value.quasis[0]?.value.cooked ?? undefined) : undefined
}

function nodesIn(node: AnyNode): readonly AnyNode[] {
  const within = Object.values(node).flat().filter(isNode)
  return [node, ...within.flatMap(nodesIn)]
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value
