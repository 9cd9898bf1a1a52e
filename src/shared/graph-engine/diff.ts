import { annotationOf, isMap, type KubeObject } from '../engine/json/object.ts'
import { formatPointer, valueAt } from '../engine/json/pointer.ts'
import { lostFields } from './drift.ts'
import { type Digest, hashOf, type Inventory, type InventoryItem, refOfItem } from './inventory.ts'
import {
  type DeletionPolicy,
  type Graph,
  type GraphNode,
  isWholeGraph,
  keyOf,
  type ObjectRef,
  refOf,
} from './node.ts'
import {
  describeVerdict,
  fieldManagerOf,
  type MarkNames,
  type Owner,
  verdictOf,
  withMarks,
} from './ownership.ts'
import { deletionOrder } from './prune/deletion-order.ts'
import { retentionOf } from './prune/retention.ts'
import type { Observed } from './step/observed.ts'

/** What an execution would do with one object. */
export interface Difference {
  readonly kind: 'created' | 'changed' | 'unchanged' | 'refused' | 'pruned' | 'left'
  readonly id: string
  readonly ref: ObjectRef
  /** Why it is refused or left. */
  readonly message?: string
  /** JSON pointers of what live has otherwise, or not at all; only where live is known. */
  readonly fields?: readonly string[]
}

export interface DiffInput {
  readonly graph: Graph
  readonly inventory: Inventory
  /** Absent at the door, where only hashes are known. */
  readonly live?: {
    readonly objects: Observed['objects']
    readonly owner: Owner
    readonly names: MarkNames
  }
  readonly deletionPolicy?: DeletionPolicy
  readonly digest: Digest
}

/** What an execution of the graph would do: its nodes in their order, then what leaves it, in the order in which that would go. */
export function diff(input: DiffInput): readonly Difference[] {
  const items = new Map(input.inventory.map((item) => [keyOf(item), item]))
  const nodes = input.graph.nodes.map((node) => {
    const ref = refOf(node.object)
    return { id: node.id, ref, ...nodeDifference(node, items.get(keyOf(ref)), input) }
  })
  return isWholeGraph(input.graph) ? [...nodes, ...removals(input)] : nodes
}

type Found = Omit<Difference, 'id' | 'ref'>

function nodeDifference(
  node: GraphNode,
  item: InventoryItem | undefined,
  { live, digest }: DiffInput,
): Found {
  const { object, applyPolicy } = node
  const observation = live?.objects.get(keyOf(refOf(object)))
  if (observation?.state === 'absent') return { kind: 'created' }
  if (live && observation?.state === 'present')
    return liveDifference(node, item, observation.object, { ...live, digest })
  // An empty hash is an intent, of which nobody knows whether anything came of it.
  if (!item?.hash) return { kind: 'created' }
  const isSame = item.hash === hashOf(object, digest) || applyPolicy?.mode === 'Create'
  return { kind: isSame ? 'unchanged' : 'changed' }
}

function liveDifference(
  { object, applyPolicy }: GraphNode,
  item: InventoryItem | undefined,
  live: KubeObject,
  { owner, names, digest }: NonNullable<DiffInput['live']> & Pick<DiffInput, 'digest'>,
): Found {
  const verdict = verdictOf(live, owner, names, item?.uid)
  if (verdict.kind === 'foreign' || verdict.kind === 'owned')
    return { kind: 'refused', message: describeVerdict(verdict) }
  if (applyPolicy?.mode === 'Create') return { kind: 'unchanged' }
  if (item?.hash !== hashOf(object, digest))
    return { kind: 'changed', fields: differingFields(object, live) }
  const marked = withMarks(object, owner, names, digest)
  const fields = lostFields(marked, live, fieldManagerOf(owner, names, digest))
  return fields.length === 0 ? { kind: 'unchanged' } : { kind: 'changed', fields }
}

function removals({ graph, inventory, live, deletionPolicy }: DiffInput): readonly Difference[] {
  const wanted = new Set(graph.nodes.map(({ object }) => keyOf(refOf(object))))
  const going = inventory.filter((item) => !wanted.has(keyOf(item)))
  return deletionOrder(going)
    .flat()
    .filter((item) => live?.objects.get(keyOf(item))?.state !== 'absent')
    .map((item) => {
      const about = { id: item.id, ref: refOfItem(item) }
      const message = retentionOf(item, deletionPolicy)?.message ?? (live && whyKept(item, live))
      return message === undefined
        ? { kind: 'pruned', ...about }
        : { kind: 'left', ...about, message }
    })
}

/** What keeps a live object from being deleted; undefined where nothing does. */
function whyKept(item: InventoryItem, { objects, owner, names }: NonNullable<DiffInput['live']>) {
  const observation = objects.get(keyOf(item))
  if (observation?.state !== 'present') return undefined
  const verdict = verdictOf(observation.object, owner, names, item.uid)
  if (verdict.kind === 'owned') return `belongs to ${verdict.by} now: it is left as it is`
  const isProtected = annotationOf(observation.object, names.protectionAnnotation) === 'true'
  return isProtected ? `is kept by its annotation ${names.protectionAnnotation}` : undefined
}

/**
 * Where live is not what desired states, as JSON pointers. For people: the server writes some values otherwise than they are
 * sent, which a dry run tells apart and this does not. Lists are compared item by item, live ones may say more.
 */
export function differingFields(desired: KubeObject, live: KubeObject): readonly string[] {
  const differing: string[] = []
  collectDiffering(desired, live, [], differing)
  return differing
}

function collectDiffering(
  desired: unknown,
  live: unknown,
  path: readonly string[],
  differing: string[],
) {
  if (desired === live || isAbsent(desired, live)) return
  const isSameSort = isMap(desired) ? isMap(live) : areLists(desired, live)
  if (!isSameSort) {
    differing.push(formatPointer(path))
    return
  }
  for (const [name, value] of Object.entries(desired ?? {}))
    collectDiffering(value, valueAt(live, [name]), [...path, name], differing)
}

/** The server keeps no null, and leaves out what is empty. */
const isAbsent = (desired: unknown, live: unknown) =>
  live === undefined && (desired === null || desired === '' || isEmpty(desired))

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

const areLists = (desired: unknown, live: unknown) =>
  Array.isArray(desired) && Array.isArray(live) && live.length >= desired.length
