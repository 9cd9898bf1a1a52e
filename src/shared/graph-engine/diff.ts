import { annotationOf, isMap, type KubeObject } from '../engine/json/object.ts'
import { formatPointer, valueAt } from '../engine/json/pointer.ts'
import { lostFields } from './drift.ts'
import { type Digest, hashOf, type Inventory } from './inventory.ts'
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
  const { graph, inventory } = input
  const items = new Map(inventory.map((item) => [keyOf(item), item]))
  const nodes = graph.nodes.map((node) => {
    const key = keyOf(refOf(node.object))
    return nodeDifference(node, items.get(key)?.hash, key, input)
  })
  return isWholeGraph(graph) ? [...nodes, ...removals(input)] : nodes
}

function nodeDifference(node: GraphNode, hash = '', key: string, input: DiffInput): Difference {
  const { id, object, applyPolicy } = node
  const about = { id, ref: refOf(object) }
  const isSame = hash === hashOf(object, input.digest)
  const isFixed = applyPolicy?.mode === 'Create'
  const observation = input.live?.objects.get(key)
  if (observation?.state === 'absent') return { kind: 'created', ...about }
  if (input.live && observation?.state === 'present') {
    const known = { ...input.live, digest: input.digest, isFixed, isSame }
    return { ...about, ...liveDifference(object, observation.object, known) }
  }
  // An empty hash is an intent, of which nobody knows whether anything came of it.
  if (hash === '') return { kind: 'created', ...about }
  return { kind: isSame || isFixed ? 'unchanged' : 'changed', ...about }
}

interface Known extends NonNullable<DiffInput['live']> {
  readonly digest: Digest
  /** It is applied once and never again. */
  readonly isFixed: boolean
  /** It was applied as it is desired now. */
  readonly isSame: boolean
}

function liveDifference(
  desired: KubeObject,
  object: KubeObject,
  known: Known,
): Omit<Difference, 'id' | 'ref'> {
  const verdict = verdictOf(object, known.owner, known.names)
  if (verdict.kind === 'foreign' || verdict.kind === 'owned')
    return { kind: 'refused', message: describeVerdict(verdict) }
  if (known.isFixed) return { kind: 'unchanged' }
  const differing = differingFields(desired, object)
  const taken = known.isSame ? takenFields(desired, object, known) : undefined
  const fields = taken?.flatMap((field) => differingIn(field, differing)) ?? differing
  const isAtRest = known.isSame && verdict.kind === 'ours' && fields.length === 0
  return isAtRest ? { kind: 'unchanged' } : { kind: 'changed', fields }
}

/** What differs of a field that was taken; itself where its value is as desired all the same. */
function differingIn(field: string, differing: readonly string[]): readonly string[] {
  const within = differing.filter((one) => one === field || one.startsWith(`${field}/`))
  return within.length > 0 ? within : [field]
}

/**
 * What others have taken of an object that was applied as it is desired now, as an execution judges it; undefined of one that
 * was never applied in the owner's name.
 */
function takenFields(desired: KubeObject, live: KubeObject, { owner, names, digest }: Known) {
  const marked = withMarks(desired, owner, names, digest)
  const fields = lostFields(marked, live, fieldManagerOf(owner, names, digest))
  return fields[0] === '' ? undefined : fields
}

function removals({ graph, inventory, live, deletionPolicy }: DiffInput): readonly Difference[] {
  const wanted = new Set(graph.nodes.map(({ object }) => keyOf(refOf(object))))
  const going = inventory.filter((item) => !wanted.has(keyOf(item)))
  return deletionOrder(going)
    .flat()
    .filter((item) => live?.objects.get(keyOf(item))?.state !== 'absent')
    .map(({ id, ...item }) => {
      const { apiVersion, kind, namespace, name } = item
      const ref = { apiVersion, kind, ...(namespace && { namespace }), name }
      const message =
        retentionOf({ id, ...item }, deletionPolicy)?.message ?? (live && whyKept(ref, live))
      return message === undefined
        ? { kind: 'pruned', id, ref }
        : { kind: 'left', id, ref, message }
    })
}

/** What keeps a live object from being deleted; undefined where nothing does. */
function whyKept(ref: ObjectRef, { objects, owner, names }: NonNullable<DiffInput['live']>) {
  const observation = objects.get(keyOf(ref))
  if (observation?.state !== 'present') return undefined
  const verdict = verdictOf(observation.object, owner, names)
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
