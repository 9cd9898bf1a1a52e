import { TEMPLATE_NAMES } from '../../engine/render.ts'
import type { AssetEntry } from '../catalog/catalog.ts'
import { isBinding, isRole } from '../catalog/grants.ts'
import { type EntryMistake, type Mistake, mistakesAt } from './mistakes.ts'
import { mayTouch, type Step, showPath, tokensOf } from './paths.ts'
import type { Read } from './reads.ts'
import type { TemplateText } from './template.ts'
import { type Input, inputsOf } from './template-inputs.ts'

/** Uses of anything but what a template is given, what it declares, and what gives the same result each time. */
export function unknownNames(_: AssetEntry, { reads, given }: TemplateText): readonly Mistake[] {
  const own = new Set(given.map(({ name }) => name))
  const isStrange = (name: string) =>
    !INPUT_NAMES.has(name) && !LANGUAGE.has(name) && !own.has(name)
  return [
    ...mistakesAt(given, ({ name }) =>
      INPUT_NAMES.has(name)
        ? `the name ${name} is what every template is given: choose another`
        : undefined,
    ),
    ...mistakesAt(reads, (read) => {
      const name = nameOf(read)
      return isStrange(name)
        ? `${name} is not for templates, whose output depends on ${[...INPUT_NAMES].join(', ')} alone`
        : undefined
    }),
  ]
}

const INPUT_NAMES: ReadonlySet<string> = new Set(TEMPLATE_NAMES)

const nameOf = ({ root, steps: [first] }: Read) =>
  root === 'Math' && first?.text === 'random' ? 'Math.random' : root

const LANGUAGE: ReadonlySet<string> = new Set([
  'undefined',
  'NaN',
  'Infinity',
  'Array',
  'Boolean',
  'JSON',
  'Map',
  'Math',
  'Number',
  'Object',
  'RegExp',
  'Set',
  'String',
  'isFinite',
  'isNaN',
  'parseFloat',
  'parseInt',
  'decodeURIComponent',
  'encodeURIComponent',
  'Error',
])

/** Reads of what the facts, or the asset's own entry, do not offer. */
export function unknownReads(asset: AssetEntry, { reads }: TemplateText): readonly Mistake[] {
  const inputs = inputsOf(asset)
  return mistakesAt(reads, (read) => {
    const input = Object.hasOwn(inputs, read.root) ? inputs[read.root] : undefined
    return read.fault ?? (input && faultOf(input, read, asset.name))
  })
}

function faultOf(root: Input, read: Read, asset: string): string | undefined {
  const { input, depth } = follow(root, read.steps)
  if (input.kind === 'spec') return specFault(input.fields, read, asset)
  // What lies before a name was given is told where it was given.
  if (depth <= read.judged) return undefined
  if (input.kind === 'nothing') return input.fault
  return input.kind === 'unsure' && read.how !== 'optional'
    ? `${showPath({ ...read, steps: read.steps.slice(0, depth) })} ${input.fault}`
    : undefined
}

/** What the steps lead to, as far as it can be told without rendering, and how many of them. */
function follow(root: Input, steps: readonly Step[]) {
  let [input, depth] = [root, 0]
  for (const { text, isWhole } of steps) {
    if (input.kind !== 'members' || !isWhole) break
    input = memberOf(input, text)
    depth++
  }
  return { input, depth }
}

const memberOf = (
  { members, other }: Extract<Input, { readonly kind: 'members' }>,
  name: string,
): Input => (Object.hasOwn(members, name) ? members[name] : undefined) ?? other(name)

// facts.hco.spec
const SPEC_DEPTH = 2

function specFault(fields: readonly string[], read: Read, asset: string): string | undefined {
  const steps = read.steps.slice(SPEC_DEPTH)
  if (steps.length === 0 || read.steps.length <= read.judged) return undefined
  if (fields.some((field) => mayTouch(steps, tokensOf(field)))) return undefined
  return `${showPath(read)} is never given: asset ${asset} lists no pointer to it under hcoFields`
}

/**
 * Reads in the template of a role or a binding that could make it another on another cluster. Who is bound may be
 * in the namespace of the HyperConverged.
 */
export function fixedGrants(asset: AssetEntry, { reads }: TemplateText): readonly Mistake[] {
  if (!isRole(asset) && !isBinding(asset)) return []
  return mistakesAt(reads, (read) => {
    const path = showPath(read)
    const isFixed = !VARYING.has(read.root) || (isBinding(asset) && path === HCO_NAMESPACE)
    return isFixed
      ? undefined
      : `${path} is not the same everywhere, and what is granted must be, since our own roles are made from it: write it out`
  })
}

const HCO_NAMESPACE = 'facts.hco.namespace'
const VARYING: ReadonlySet<string> = new Set(['facts', 'enums', 'fields', 'sections'])

/** What an entry lists for its template, and the template never reads. */
export function unused(
  asset: AssetEntry,
  { reads, unread }: TemplateText,
): readonly EntryMistake[] {
  if (unread.length > 0) return []
  const isRead = createIsRead(reads)
  return listedOf(asset).flatMap(({ path, place, way }) =>
    isRead(place) ? [] : [{ path, message: `is never read by the template: ${way}` }],
  )
}

interface Listed {
  /** Where the entry lists it. */
  readonly path: readonly string[]
  /** Where the template would read it. */
  readonly place: readonly [root: string, ...names: readonly string[]]
  readonly way: string
}

const listedOf = (asset: AssetEntry): readonly Listed[] => [
  ...asset.files.map((name, index) => ({
    path: ['files', String(index)],
    place: ['file', name] as const,
    way: `read it with file('${name}'), or take it away`,
  })),
  ...(['enums', 'fields'] as const).flatMap((list) =>
    Object.keys(asset[list]).map((name) => ({
      path: [list, name],
      place: [list, name] as const,
      way: `read it as ${list}.${name}, or take it away`,
    })),
  ),
  ...asset.sections.map(({ name }, index) => ({
    path: ['sections', String(index)],
    place: ['sections', name] as const,
    way: `ask for it with sections['${name}'], or take it away`,
  })),
  ...asset.hcoFields.map((pointer, index) => ({
    path: ['hcoFields', String(index)],
    place: ['facts', 'hco', 'spec', ...tokensOf(pointer)] as const,
    way: `read it with optional(facts.hco.spec, '${pointer}', …), or take it away`,
  })),
]

/** To give something a name is not yet to read it. */
function createIsRead(reads: readonly Read[]) {
  const readsFrom = Map.groupBy(reads, ({ root }) => root)
  return ([root, ...names]: Listed['place']) =>
    (readsFrom.get(root) ?? []).some(
      ({ steps, how }) =>
        mayTouch(steps, names) && !(how === 'named' && steps.length < names.length),
    )
}
