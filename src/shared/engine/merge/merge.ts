import type { Operation } from 'fast-json-patch'
import { isEqual } from '../json/equal.ts'
import { isMap, type JsonMap, type KubeObject, memberOf } from '../json/object.ts'
import { formatPointer } from '../json/pointer.ts'
import {
  ATOMIC,
  type FieldPath,
  itemsOf,
  type ListItem,
  type ListItems,
  type MergeTree,
  memberTree,
  type Step,
  soleValue,
} from './merge-tree.ts'

/** A leaf of desired at which an object differs. */
export interface Drift {
  readonly path: FieldPath
  /** Where in the object the leaf is, or would be once put back. */
  readonly pointer: string
  readonly kind: 'missing' | 'different'
  readonly found: unknown
  readonly wanted: unknown
}

export interface Correction {
  readonly corrected: KubeObject
  readonly drifts: readonly Drift[]
  /** What makes incoming the corrected object, and touches nothing else: a number that JavaScript cannot hold stays what it is. */
  readonly operations: readonly Operation[]
}

export interface CorrectInput {
  readonly tree: MergeTree
  readonly incoming: KubeObject
  /** What the write replaces; undefined for a create. */
  readonly old: KubeObject | undefined
  readonly desired: KubeObject
  /** What was desired before the write, where it changes an override. */
  readonly desiredBefore?: KubeObject | undefined
}

/** The same place in the four objects; undefined where an object has nothing there. */
interface Place {
  readonly incoming: unknown
  readonly old: unknown
  readonly desired: unknown
  readonly before: unknown
  /** How one gets here; undefined at the root. */
  readonly from?: { readonly parent: Place; readonly step: Step; readonly token: string }
}

interface Judgement {
  readonly judgesAll: boolean
  readonly drifts: Drift[]
  readonly edits: Operation[]
  /** Applied after all edits, inner ones before outer ones: none moves what another operation points at. */
  readonly removals: Operation[]
}

/** Puts back what a write moves away from desired, and nothing that was so before the write. */
export const correct = (input: CorrectInput): Correction => {
  const { tree, incoming, old, desired, desiredBefore: before = desired } = input
  const judgesAll = old === undefined
  const judgement: Judgement = { judgesAll, drifts: [], edits: [], removals: [] }
  const corrected = settle(tree, { incoming, old, desired, before }, judgement) as KubeObject
  const { drifts, edits, removals } = judgement
  return { corrected, drifts, operations: [...edits, ...removals] }
}

/** The object after a forced server-side apply of `desired` by a manager that owns nothing in `live`. */
export const merge = (tree: MergeTree, live: KubeObject, desired: KubeObject): KubeObject =>
  correct({ tree, incoming: live, old: undefined, desired }).corrected

/** Every leaf of desired at which the object differs from it. */
export const drift = (tree: MergeTree, object: KubeObject, desired: KubeObject): readonly Drift[] =>
  correct({ tree, incoming: object, old: undefined, desired }).drifts

/** What incoming becomes at one place: itself, unless something in it is put back. */
const settle = (tree: MergeTree, place: Place, judgement: Judgement): unknown => {
  const { incoming, desired } = place
  if (!isMergeable(tree, desired)) return settleLeaf(place, judgement)
  if (isEmpty(desired)) {
    // An apply that says only that there is a container leaves one with content alone.
    const isFilled = isMergeable(tree, incoming) && !isEmpty(incoming)
    return isFilled ? incoming : settleLeaf(place, judgement)
  }
  if (isMap(desired)) return settleMap(tree, place, desired, judgement)
  const wanted = itemsOf(tree, desired)
  return wanted.isExact ? settleList(tree, place, wanted, judgement) : settleLeaf(place, judgement)
}

/** Whether the tree merges the value's content, null being an empty container of any sort. */
const isMergeable = ({ type }: MergeTree, value: unknown) => {
  if (type === 'atomic') return false
  if (type === 'list' || type === 'set') return value === null || Array.isArray(value)
  return value === null || isMap(value)
}

const isEmpty = (container: unknown) => Object.keys(container ?? {}).length === 0

const settleLeaf = (place: Place, judgement: Judgement): unknown => {
  const { incoming: found, old, desired: wanted, before } = place
  const isJudged = () => judgement.judgesAll || !isEqual(found, old) || !isEqual(wanted, before)
  if (isEqual(found, wanted) || !isJudged()) return found
  const kind = found === undefined ? 'missing' : 'different'
  const { path, pointer } = locate(place)
  judgement.drifts.push({ path, pointer, kind, found, wanted })
  judgement.edits.push({
    op: found === undefined ? 'add' : 'replace',
    path: pointer,
    value: wanted,
  })
  return wanted
}

/** Writes a container as one edit where there is none: single members could not be put into it. */
const editWhole = (place: Place, settled: unknown, edits: Operation[], firstInside: number) => {
  edits.length = firstInside
  const op = place.incoming === undefined ? 'add' : 'replace'
  edits.push({ op, path: locate(place).pointer, value: settled })
}

const locate = ({ from }: Place): Pick<Drift, 'path' | 'pointer'> => {
  if (!from) return { path: [], pointer: '' }
  const { path, pointer } = locate(from.parent)
  return { path: [...path, from.step], pointer: `${pointer}${formatPointer([from.token])}` }
}

const settleMap = (
  tree: MergeTree,
  parent: Place,
  desired: JsonMap,
  judgement: Judgement,
): unknown => {
  const firstInside = judgement.edits.length
  const changes: (readonly [name: string, settled: unknown])[] = []
  for (const name of Object.keys(desired)) {
    const member: Place = {
      incoming: memberOf(parent.incoming, name),
      old: memberOf(parent.old, name),
      desired: desired[name],
      before: memberOf(parent.before, name),
      from: { parent, step: { field: name }, token: name },
    }
    const settled = settle(memberTree(tree, name) ?? ATOMIC, member, judgement)
    if (settled !== member.incoming) changes.push([name, settled])
  }
  if (changes.length === 0) return parent.incoming
  if (isMap(parent.incoming)) return { ...parent.incoming, ...Object.fromEntries(changes) }
  const settled = Object.fromEntries(changes)
  editWhole(parent, settled, judgement.edits, firstInside)
  return settled
}

const settleList = (
  tree: MergeTree,
  parent: Place,
  wanted: ListItems,
  judgement: Judgement,
): unknown => {
  const list: readonly unknown[] = Array.isArray(parent.incoming) ? parent.incoming : []
  const incoming = itemsOf(tree, list).byElement
  const old = itemsOf(tree, parent.old).byElement
  const before = itemsOf(tree, parent.before).byElement
  const changes: Change[] = []
  const firstInside = judgement.edits.length
  let end = list.length
  for (const [element, { step, values }] of wanted.byElement) {
    const found = incoming.get(element)
    const position = found?.position ?? end
    const item: Place = {
      incoming: soleValue(found),
      old: soleValue(old.get(element)),
      desired: values[0],
      before: soleValue(before.get(element)),
      from: { parent, step, token: String(position) },
    }
    const settled = settle(itemTree(tree, found), item, judgement)
    if (settled === item.incoming) continue
    changes.push({ position, repeats: found?.repeats ?? [], settled })
    end = Math.max(end, position + 1)
  }
  if (changes.length === 0) return parent.incoming
  const settled = withChanges(list, changes)
  if (Array.isArray(parent.incoming)) removeRepeats(changes, parent, judgement)
  else editWhole(parent, settled, judgement.edits, firstInside)
  return settled
}

/** The server puts one item in the place of all that share its identity. The last goes first: no index moves. */
const removeRepeats = (changes: readonly Change[], place: Place, { removals }: Judgement) => {
  const list = locate(place).pointer
  const positions = changes.flatMap(({ repeats }) => repeats).sort((a, b) => b - a)
  for (const position of positions) removals.push({ op: 'remove', path: `${list}/${position}` })
}

/** A list item is judged field by field only where the list holds it exactly once. */
const itemTree = (tree: MergeTree, found: ListItem | undefined): MergeTree =>
  tree.type === 'list' && found?.repeats.length === 0 ? tree.items : ATOMIC

interface Change extends Pick<ListItem, 'position' | 'repeats'> {
  readonly settled: unknown
}

const withChanges = (list: readonly unknown[], changes: readonly Change[]): readonly unknown[] => {
  const dropped = new Set(changes.flatMap(({ repeats }) => repeats))
  const settled = new Map(changes.map((change) => [change.position, change.settled]))
  const kept = list.flatMap((item, position) => {
    if (dropped.has(position)) return []
    return [settled.has(position) ? settled.get(position) : item]
  })
  const appended = changes.filter(({ position }) => position >= list.length)
  return [...kept, ...appended.map((change) => change.settled)]
}
