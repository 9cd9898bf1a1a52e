import { parser } from '@prometheus-io/lezer-promql'
import type { MetricLabels } from './metric-labels.ts'

/** What an expression of PromQL yields. */
export interface ReadExpression {
  /** The labels of the series that it yields; none for a number. */
  readonly labels: readonly string[]
  /** What is wrong with it: syntax, metrics that nobody exports, labels that a metric does not bear. */
  readonly mistakes: readonly string[]
}

/** Reads an expression by Prometheus's own grammar; throws for a construct whose labels this reader does not know. */
export function readExpression(text: string, metrics: MetricLabels): ReadExpression {
  const tree = parser.parse(text)
  const mistakes: string[] = []
  tree.iterate({
    enter: ({ type, from }) => {
      if (type.isError) mistakes.push(`no PromQL at character ${from}`)
    },
  })
  if (mistakes.length > 0) return { labels: [], mistakes }
  const labels = labelsOf(onlyChild(tree.topNode), { text, metrics, mistakes })
  return { labels: labels ?? [], mistakes }
}

type Node = ReturnType<typeof parser.parse>['topNode']

interface Reading {
  readonly text: string
  readonly metrics: MetricLabels
  readonly mistakes: string[]
}

/** The labels of a vector; undefined for a number. */
type Labels = readonly string[] | undefined
type Reader = (node: Node, reading: Reading) => Labels

const readers: Readonly<Record<string, Reader>> = {
  NumberDurationLiteral: () => undefined,
  ParenExpr: (node, reading) => labelsOf(onlyChild(node), reading),
  OffsetExpr: (node, reading) => labelsOf(childrenOf(node)[0], reading),
  MatrixSelector: (node, reading) => labelsOf(childrenOf(node)[0], reading),
  SubqueryExpr: (node, reading) => labelsOf(childrenOf(node)[0], reading),
  VectorSelector: selector,
  AggregateExpr: aggregation,
  BinaryExpr: operation,
  FunctionCall: call,
}

function labelsOf(node: Node | undefined, reading: Reading): Labels {
  const reader = node && readers[node.name]
  if (!reader) throw new Error(`cannot tell the labels of ${node?.name} in: ${reading.text}`)
  return reader(node, reading)
}

function selector(node: Node, { text, metrics, mistakes }: Reading): Labels {
  const name = textOf(node.getChild('Identifier'), text)
  const labels = metrics.get(name)
  if (!labels) {
    mistakes.push(`nobody exports the metric ${name}`)
    return []
  }
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []
  const names = matchers.map((matcher) => textOf(matcher.getChild('LabelName'), text))
  mistakes.push(...missing(names, labels, name))
  return labels
}

function aggregation(node: Node, reading: Reading): Labels {
  const modifier = node.getChild('AggregateModifier')
  if (modifier && !modifier.getChild('By')) throw new Error(`only "by" is read: ${reading.text}`)
  const kept = groupingOf(modifier, reading)
  const labels = labelsOf(childrenOf(node.getChild('FunctionCallBody')).at(-1), reading) ?? []
  reading.mistakes.push(...missing(kept, labels, textOf(node, reading.text)))
  return kept
}

const SET_OPERATORS = ['And', 'Or', 'Unless']

function operation(node: Node, reading: Reading): Labels {
  const children = childrenOf(node)
  const [left, right] = [children[0], children.at(-1)].map((side) => labelsOf(side, reading))
  const clause = node.getChild('MatchingModifierClause')
  const isOnSets = SET_OPERATORS.some((name) => node.getChild(name))
  if (clause && !(isOnSets && clause.getChild('On')))
    throw new Error(`only "on" of a set operator is read: ${reading.text}`)
  const on = groupingOf(clause, reading)
  for (const side of [left, right])
    reading.mistakes.push(...missing(on, side ?? [], textOf(clause, reading.text)))
  if (!left || !right) return left ?? right
  return node.getChild('Or') ? left.filter((label) => right.includes(label)) : left
}

/** What a function makes of the labels of its last argument. */
const functions: Readonly<Record<string, (labels: readonly string[]) => Labels>> = {
  absent: () => [],
  histogram_quantile: (labels) => labels.filter((label) => label !== 'le'),
  increase: (labels) => labels,
  max_over_time: (labels) => labels,
  present_over_time: (labels) => labels,
  rate: (labels) => labels,
  time: () => undefined,
  timestamp: (labels) => labels,
  vector: () => [],
}

function call(node: Node, reading: Reading): Labels {
  const name = textOf(node.getChild('FunctionIdentifier'), reading.text)
  const yields = functions[name]
  if (!yields) throw new Error(`cannot tell the labels of ${name}() in: ${reading.text}`)
  const last = childrenOf(node.getChild('FunctionCallBody')).at(-1)
  const labels = (last && labelsOf(last, reading)) ?? []
  if (name === 'histogram_quantile') reading.mistakes.push(...missing(['le'], labels, name))
  return yields(labels)
}

const missing = (names: readonly string[], labels: readonly string[], where: string) =>
  names.filter((name) => !labels.includes(name)).map((name) => `no label ${name} in ${where}`)

const groupingOf = (node: Node | null, { text }: Reading): readonly string[] =>
  node
    ?.getChild('GroupingLabels')
    ?.getChildren('LabelName')
    .map((label) => textOf(label, text)) ?? []

const textOf = (node: Node | null, text: string) => (node ? text.slice(node.from, node.to) : '')

function childrenOf(node: Node | null): readonly Node[] {
  const children: Node[] = []
  for (let child = node?.firstChild; child; child = child.nextSibling) children.push(child)
  return children
}

const onlyChild = (node: Node) => childrenOf(node)[0]
