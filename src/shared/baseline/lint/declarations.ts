import type { AnyNode, AssignmentProperty, Pattern } from 'acorn'
import { MAX_DEPTH } from '../../engine/json/pointer.ts'
import type { Path, Step } from './paths.ts'
import { chainOf, nodesIn, stepOf } from './syntax.ts'

/** A name that a template gives to something. */
export interface GivenName {
  readonly name: string
  readonly position: number
}

/** Constants that are nothing but another name for a path, by their names. */
export type Aliases = ReadonlyMap<string, Path>

/** The names that a template declares. */
export interface Names {
  readonly given: readonly GivenName[]
  readonly aliases: Aliases
}

/** Finds every name that is declared, in whatever scope. */
export function namesIn(program: AnyNode): Names {
  const given: GivenName[] = []
  const paths: (readonly [name: string, path: Path])[] = []
  for (const node of nodesIn(program)) {
    for (const name of patternsOf(node).flatMap(namesOf)) given.push(name)
    if (node.type === 'VariableDeclaration' && node.kind === 'const')
      for (const path of node.declarations.flatMap(pathsOf)) paths.push(path)
  }
  return { given, aliases: aliasesAmong(given, paths) }
}

/** The path, from a name that is no alias. */
export function resolved({ root, steps }: Path, aliases: Aliases): Path {
  const alias = aliases.get(root)
  return alias
    ? { root: alias.root, steps: [...alias.steps, ...steps].slice(0, MAX_DEPTH) }
    : { root, steps }
}

function aliasesAmong(
  given: readonly GivenName[],
  paths: readonly (readonly [name: string, path: Path])[],
): Aliases {
  const timesGiven = Map.groupBy(given, ({ name }) => name)
  const aliases = new Map<string, Path>()
  for (const [name, path] of paths) {
    // A name that is given twice stands for different things in different places.
    if (timesGiven.get(name)?.length === 1) aliases.set(name, resolved(path, aliases))
  }
  return aliases
}

const pathsOf = ({ id, init }: { readonly id: Pattern; readonly init?: AnyNode | null }) => {
  const { bindings } = (init && bindingsOf(id, init)) ?? { bindings: [] }
  return bindings.flatMap(({ target, path }) =>
    target.type === 'Identifier' ? [[target.name, path] as const] : [],
  )
}

function patternsOf(node: AnyNode): readonly Pattern[] {
  switch (node.type) {
    case 'VariableDeclarator':
      return [node.id]
    case 'CatchClause':
      return node.param ? [node.param] : []
    case 'ArrowFunctionExpression':
      return node.params
    case 'FunctionExpression':
    case 'FunctionDeclaration':
      return node.id ? [node.id, ...node.params] : node.params
    case 'ClassExpression':
    case 'ClassDeclaration':
      return node.id ? [node.id] : []
    default:
      return []
  }
}

function namesOf(whole: Pattern): readonly GivenName[] {
  const names: GivenName[] = []
  const waiting: (Pattern | null)[] = [whole]
  for (let pattern = waiting.pop(); pattern !== undefined; pattern = waiting.pop()) {
    if (pattern?.type === 'Identifier') names.push({ name: pattern.name, position: pattern.start })
    else if (pattern) for (const part of partsOf(pattern)) waiting.push(part)
  }
  return names
}

function partsOf(pattern: Pattern): readonly (Pattern | null)[] {
  switch (pattern.type) {
    case 'ObjectPattern':
      return pattern.properties.map((member) =>
        member.type === 'Property' ? member.value : member.argument,
      )
    case 'ArrayPattern':
      return pattern.elements
    case 'AssignmentPattern':
      return [pattern.left]
    default:
      return 'argument' in pattern ? [pattern.argument] : []
  }
}

/** What a declaration binds: the target, and the path to its value. */
export interface Binding {
  readonly target: Pattern
  readonly path: Path
}

/** A declaration by which names stand for paths, taken apart. */
export interface Declared {
  readonly bindings: readonly Binding[]
  /** Expressions within it: defaults, and what is in brackets. */
  readonly further: readonly AnyNode[]
}

/** Takes `const { a, b: { c } } = x.y` apart; undefined where the value is not a path from a name. */
export function bindingsOf(id: Pattern, init: AnyNode): Declared | undefined {
  const { root, steps, computed } = chainOf(init)
  if (root.type !== 'Identifier') return undefined
  const bindings: Binding[] = []
  const further: AnyNode[] = [...computed]
  const waiting: Part[] = [{ pattern: id, steps }]
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    const opened = open(part)
    for (const expression of opened.further) further.push(expression)
    for (const inner of opened.parts) waiting.push(inner)
    if (opened.parts.length === 0)
      bindings.push({ target: part.pattern, path: { root: root.name, steps: part.steps } })
  }
  return { bindings, further }
}

interface Part {
  readonly pattern: Pattern
  readonly steps: readonly Step[]
}

/** What a pattern consists of; no parts where it is to be taken as a whole. */
function open({ pattern, steps }: Part): {
  readonly parts: readonly Part[]
  readonly further: readonly AnyNode[]
} {
  switch (pattern.type) {
    case 'Identifier':
      return { parts: [], further: [] }
    case 'AssignmentPattern':
      return { parts: [{ pattern: pattern.left, steps }], further: [pattern.right] }
    case 'ObjectPattern':
      return {
        parts: pattern.properties.map((member) =>
          member.type === 'RestElement'
            ? { pattern: member, steps }
            : { pattern: member.value, steps: [...steps, keyStep(member)].slice(0, MAX_DEPTH) },
        ),
        further: pattern.properties.flatMap((member) =>
          member.type === 'Property' && member.computed ? [member.key] : [],
        ),
      }
    default:
      return { parts: [], further: [pattern] }
  }
}

const keyStep = ({ key, computed }: AssignmentProperty): Step =>
  !computed && key.type === 'Identifier' ? { text: key.name, isWhole: true } : stepOf(key)
