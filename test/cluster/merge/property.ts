import fc from 'fast-check'
import { canonicalJson } from '../../../src/shared/engine/json/canonical.ts'
import { isMap } from '../../../src/shared/engine/json/object.ts'
import { drawingOf } from './drawing/drawing.ts'
import { desiredOf, liveOf, type Sketch } from './drawing/sketches.ts'
import type { MergeKind } from './kinds.ts'
import type { Comparison, MergePair, Oracle } from './oracle.ts'
import type { Served } from './served.ts'
import { type Sort, sortsIn } from './sorts.ts'

/** How many pairs of a kind are to be compared, and from which seed they are drawn. */
export interface Amount {
  readonly cases: number
  readonly seed: number
}

/** What came of comparing many pairs of one kind. */
export interface Finding {
  readonly kind: MergeKind
  readonly compared: number
  readonly refused: number
  /** The sorts of merge that live and desired of one pair both had to do with. */
  readonly sorts: ReadonlySet<Sort>
  /** What is wrong, in words. */
  readonly problem?: string
  /** The smallest pair that was found for which the two accounts differ. */
  readonly counterexample?: MergePair
}

/** Of five pairs two at least have to be ones that the server takes. */
const SKIPS_PER_RUN = 1.5

/** Compares drawn pairs of a kind, until one differs; then shrinks that. */
export async function compareKind(
  oracle: Oracle,
  kind: MergeKind,
  { schema, resolve }: Served,
  { cases, seed }: Amount,
): Promise<Finding> {
  const sorts = new Set<Sort>()
  const refusals = new Map<string, number>()
  const sortsOf = (value: unknown) => new Set(sortsIn(schema, resolve, value))
  const drawing = drawingOf(schema, resolve, kind.overlay)
  const property = fc.asyncProperty(drawing, async (sketch) => {
    const pair = pairOf(kind, sketch)
    const comparison = await oracle(pair)
    if (comparison.kind === 'refused') count(refusals, comparison.message)
    fc.pre(comparison.kind === 'compared')
    const liveSorts = sortsOf(pair.live)
    for (const sort of sortsOf(pair.desired)) if (liveSorts.has(sort)) sorts.add(sort)
    const difference = differenceIn(comparison)
    if (difference !== undefined) throw new Error(difference)
  })
  const options = { seed, numRuns: cases, maxSkipsPerRun: SKIPS_PER_RUN }
  const { failed, counterexample, errorInstance, numRuns, numSkips } = await fc.check(
    property,
    options,
  )
  const finding = { kind, compared: numRuns, refused: numSkips, sorts }
  if (!failed) return finding
  if (!counterexample) return { ...finding, problem: tooManyRefusals(refusals) }
  const problem = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  return { ...finding, problem, counterexample: pairOf(kind, counterexample[0]) }
}

const pairOf = ({ apiVersion, kind, onlyName }: MergeKind, sketch: Sketch): MergePair => {
  const [live, desired] = [liveOf(sketch), desiredOf(sketch)]
  if (!(isMap(live) && isMap(desired))) throw new Error(`${kind}: what is drawn is no object`)
  return { apiVersion, kind, ...(onlyName && { onlyName }), live, desired }
}

const count = (counts: Map<string, number>, message: string) => {
  const reason = message.replace(/pair-\d+/g, '…')
  counts.set(reason, (counts.get(reason) ?? 0) + 1)
}

const tooManyRefusals = (refusals: ReadonlyMap<string, number>) => {
  const most = [...refusals].sort(([, a], [, b]) => b - a).slice(0, 5)
  const lines = most.map(([reason, times]) => `${times} × ${reason}`)
  return ['the API server refuses most of the pairs:', ...lines].join('\n')
}

/** In which words the two accounts of a pair differ; undefined where they agree. */
const differenceIn = (comparison: Comparison): string | undefined => {
  if (comparison.kind === 'refused') return undefined
  const { ours, theirs, left } = comparison
  if (canonicalJson(ours) !== canonicalJson(theirs))
    return `ours:   ${canonicalJson(ours)}\ntheirs: ${canonicalJson(theirs)}`
  return left.length === 0 ? undefined : `merged again, it would change ${left.join(', ')}`
}
