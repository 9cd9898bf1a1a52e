import type { AnyNode, CallExpression, Program, VariableDeclarator } from 'acorn'
import { parsePointer } from '../../engine/json/pointer.ts'
import { type Aliases, bindingsOf, resolved } from './declarations.ts'
import type { Path, Step } from './paths.ts'
import { type Chain, chainOf, childrenOf, stepOf } from './syntax.ts'

/** One place where a template uses a name, and the path that it follows from it. */
export interface Read extends Path {
  readonly position: number
  /**
   * optional: through optional(), which takes what is absent; named: only to give it a name, by which it is
   * read elsewhere.
   */
  readonly how: 'direct' | 'optional' | 'named'
  /** How many of the steps were followed where something got a name, and are judged there. */
  readonly judged: number
  /** What is wrong with the pointer of an optional(), as a phrase that follows it. */
  readonly fault?: string
}

/** Finds every use of a name. */
export function readsIn(program: Program, aliases: Aliases): readonly Read[] {
  const reads: Read[] = []
  const waiting: AnyNode[] = [program]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const seen = visit(node, aliases)
    for (const read of seen.reads) {
      const judged = aliases.get(read.root)?.steps.length ?? 0
      reads.push({ ...read, ...resolved(read, aliases), judged })
    }
    for (const next of seen.further.toReversed()) waiting.push(next)
  }
  return reads
}

interface Visit {
  readonly reads: readonly Read[]
  readonly further: readonly AnyNode[]
}

function visit(node: AnyNode, aliases: Aliases): Visit {
  switch (node.type) {
    case 'Identifier':
    case 'MemberExpression':
    case 'ChainExpression':
      return visitChain(chainOf(node))
    case 'CallExpression':
      return visitCall(node)
    case 'VariableDeclarator':
      return visitDeclarator(node, aliases)
    case 'ImportExpression':
      return { reads: [plain('import', node.start)], further: [node.source] }
    default:
      return { reads: [], further: childrenOf(node) }
  }
}

const plain = (root: string, position: number): Read => ({
  ...{ root, position },
  steps: [],
  how: 'direct',
  judged: 0,
})

function visitChain({ root, steps, computed }: Chain): Visit {
  if (root.type !== 'Identifier') return { reads: [], further: [root, ...computed] }
  return { reads: [{ ...plain(root.name, root.start), steps }], further: computed }
}

/** The argument says what file() and optional() read. */
function visitCall(call: CallExpression): Visit {
  const { callee, arguments: given } = call
  const [first, second] = given
  if (callee.type !== 'Identifier' || !first) return { reads: [], further: childrenOf(call) }
  const called = plain(callee.name, callee.start)
  if (callee.name === 'file') {
    return { reads: [{ ...called, steps: [stepOf(first)] }], further: given }
  }
  const { root, steps, computed } = chainOf(first)
  if (callee.name !== 'optional' || !second || root.type !== 'Identifier') {
    return { reads: [], further: childrenOf(call) }
  }
  const pointer = pointerSteps(stepOf(second))
  const read: Read = {
    ...plain(root.name, root.start),
    how: 'optional',
    steps: [...steps, ...pointer.steps],
    ...(pointer.fault !== undefined && { fault: pointer.fault }),
  }
  return { reads: [called, read], further: [...computed, ...given.slice(1)] }
}

function visitDeclarator(declarator: VariableDeclarator, aliases: Aliases): Visit {
  const { id, init } = declarator
  const declared = init && bindingsOf(id, init)
  if (!declared) return { reads: [], further: childrenOf(declarator) }
  const reads = declared.bindings.map(({ target, path }): Read => {
    const isAlias = target.type === 'Identifier' && aliases.has(target.name)
    return { ...plain(path.root, init.start), ...path, how: isAlias ? 'named' : 'direct' }
  })
  return { reads, further: declared.further }
}

/** The steps of a pointer, of which maybe only the beginning is known. */
function pointerSteps({ text, isWhole }: Step): {
  readonly steps: readonly Step[]
  readonly fault?: string
} {
  const end = isWhole ? text.length : Math.max(text.lastIndexOf('/'), 0)
  const known = text.slice(0, end)
  const rest = isWhole ? [] : [{ text: text.slice(end + 1), isWhole: false }]
  const tokens = parsePointer(known)
  if (!tokens.ok) return { steps: rest, fault: `"${known}" ${tokens.error}` }
  return { steps: [...tokens.value.map((token) => ({ text: token, isWhole: true })), ...rest] }
}
