import type { AnyNode, MemberExpression } from 'acorn'
import type { Step } from './paths.ts'

/** A chain of members: `a.b['c'].d`. */
export interface Chain {
  readonly root: AnyNode
  readonly steps: readonly Step[]
  /** The expressions in its brackets. */
  readonly computed: readonly AnyNode[]
}

/** What is directly within a node, in the order of the source; no names of members, and no labels. */
export function childrenOf(node: AnyNode): readonly AnyNode[] {
  const skipped = namesOnly(node)
  return Object.entries(node)
    .filter(([member]) => member !== skipped)
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
}

/** Every node, in the order of the source. */
export function* nodesIn(root: AnyNode): Generator<AnyNode> {
  // No recursion: a long chain is deeper than the stack.
  const waiting = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    yield node
    for (const child of childrenOf(node).toReversed()) waiting.push(child)
  }
}

/** The chain that ends with this node; one without steps, if it is none. */
export function chainOf(end: AnyNode): Chain {
  const steps: Step[] = []
  const computed: AnyNode[] = []
  let root = end
  for (;;) {
    if (root.type === 'ChainExpression') root = root.expression
    else if (root.type === 'MemberExpression') {
      if (root.computed) computed.push(root.property)
      steps.push(memberStep(root))
      root = root.object
    } else return { root, steps: steps.reverse(), computed }
  }
}

const UNKNOWN: Step = { text: '', isWhole: false }

/** What is known of the text that an expression gives. */
export function stepOf(expression: AnyNode): Step {
  if (expression.type === 'Literal') return { text: String(expression.value), isWhole: true }
  if (expression.type === 'TemplateLiteral') {
    const [{ value: { cooked = '' } = {} } = {}] = expression.quasis
    return { text: cooked ?? '', isWhole: expression.expressions.length === 0 }
  }
  return expression.type === 'BinaryExpression' && expression.operator === '+'
    ? { text: firstOf(expression), isWhole: false }
    : UNKNOWN
}

/** How a sum of texts begins. */
function firstOf(sum: AnyNode): string {
  let first = sum
  while (first.type === 'BinaryExpression' && first.operator === '+') first = first.left
  return first.type === 'Literal' ? String(first.value) : ''
}

function memberStep({ computed, property }: MemberExpression): Step {
  if (computed) return stepOf(property)
  return property.type === 'Identifier' ? { text: property.name, isWhole: true } : UNKNOWN
}

function namesOnly(node: AnyNode): string | undefined {
  switch (node.type) {
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return node.computed ? undefined : 'key'
    case 'MemberExpression':
      return node.computed ? undefined : 'property'
    case 'LabeledStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
      return 'label'
    default:
      return undefined
  }
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value
