import { escapeControls } from '../../../shared/engine/format-value.ts'
import { titleOf } from '../../../shared/graph-engine/node.ts'
import { orderOf } from '../../../shared/graph-engine/order.ts'
import type { Tree, TreeNode } from './tree.ts'

/** How `graph tree` prints, by the name of its `-o`. */
export const FORMATS = { text, json } as const

/** Each node below the one of its dependencies that is ready last; what has left the graph comes at the end. */
function text(tree: Tree): string {
  const { namespace, name, ready, reason, message } = tree.transform
  const state = ready === 'True' ? reason : `not ready (${reason})`
  const rows = rowsOf(tree.nodes)
  const wide = widest(rows.map(([place]) => place))
  const phases = widest(rows.map(([, { phase }]) => phase))
  const lines = [
    `Transform ${namespace}/${name}: ${state}: ${message}`,
    ...rows.map(([place, node]) =>
      [place.padEnd(wide), node.phase.padEnd(phases), textOf(node)].join('  '),
    ),
    ...(tree.leaving.length > 0 ? ['', 'No longer in the graph:'] : []),
    ...tree.leaving.map((item) => `  ${titleOf(item)} (${item.id}): ${item.state}`),
  ]
  return lines.map((line) => `${escapeControls(line)}\n`).join('')
}

function json(tree: Tree): string {
  return `${JSON.stringify(tree, undefined, 2)}\n`
}

const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length))

function textOf({ object, dependsOn, message }: TreeNode): string {
  const several = dependsOn.length > 1 ? ` (after ${dependsOn.join(', ')})` : ''
  return `${titleOf(object)}${several}${message === '' ? '' : `: ${message}`}`
}

type Row = readonly [place: string, node: TreeNode]

function rowsOf(nodes: readonly TreeNode[]): readonly Row[] {
  const { waves, rest } = orderOf(nodes)
  const order = new Map([...waves.flat(), ...rest].map((id, index) => [id, index]))
  const lastOf = ({ dependsOn }: TreeNode) =>
    dependsOn.toSorted((a, b) => (order.get(a) ?? -1) - (order.get(b) ?? -1)).at(-1)
  const children = Map.groupBy(nodes, (node) => (rest.includes(node.id) ? undefined : lastOf(node)))
  return branch(children, undefined, '')
}

function branch(
  children: ReadonlyMap<string | undefined, readonly TreeNode[]>,
  parent: string | undefined,
  indent: string,
): readonly Row[] {
  const all = children.get(parent) ?? []
  return all.flatMap((node, index) => {
    const isLast = index === all.length - 1
    return [
      [`${indent}${isLast ? '└─' : '├─'} ${node.id}`, node] as const,
      ...branch(children, node.id, `${indent}${isLast ? '   ' : '│  '}`),
    ]
  })
}
