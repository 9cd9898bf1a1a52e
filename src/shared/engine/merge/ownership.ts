import type { Operation } from 'fast-json-patch'
import { isMap, type JsonMap, type KubeObject, type ManagedFieldsEntry } from '../json/object.ts'
import { type FieldsV1, pathKey, pathsOf, SELF, withoutPaths } from './fields-v1.ts'
import {
  ATOMIC,
  elementOf,
  type FieldPath,
  itemsOf,
  type MergeTree,
  memberTree,
} from './merge-tree.ts'

export interface Ownership {
  /** What desired holds and the manager's last apply does not own. */
  readonly missing: readonly FieldPath[]
  /** What the manager's last apply owns and desired does not hold. */
  readonly extra: readonly FieldPath[]
}

const TYPE = ['f:apiVersion', 'f:kind']

/** What the server lets nobody own in `metadata`. */
const IDENTITY = [
  SELF,
  'f:name',
  'f:namespace',
  'f:creationTimestamp',
  'f:selfLink',
  'f:uid',
  'f:clusterName',
  'f:generation',
  'f:managedFields',
  'f:resourceVersion',
]

/** The fields that the server records as owned after an apply of `desired`. */
export const fieldsOf = (tree: MergeTree, desired: KubeObject): FieldsV1 => {
  const { 'f:metadata': metadata = {}, ...fields } = omit(contentOf(tree, desired) ?? {}, TYPE)
  const owned = omit(metadata, IDENTITY)
  return Object.keys(owned).length === 0 ? fields : { ...fields, 'f:metadata': owned }
}

const omit = (fields: FieldsV1, elements: readonly string[]): FieldsV1 =>
  Object.fromEntries(Object.entries(fields).filter(([element]) => !elements.includes(element)))

/** The fields inside a container that merges; undefined for what is owned as one value. */
const contentOf = (tree: MergeTree, value: unknown): FieldsV1 | undefined => {
  if (tree.type === 'atomic') return undefined
  if (tree.type === 'list' || tree.type === 'set') return listContentOf(tree, value)
  return value === null || isMap(value) ? mapContentOf(tree, value ?? {}) : undefined
}

const mapContentOf = (tree: MergeTree, map: JsonMap): FieldsV1 => {
  const members = Object.entries(map).flatMap(([name, member]) => {
    const isOwned = isEmptyMap(member) || !isNamed(tree, name)
    const element = elementOf({ field: name })
    return fieldsAt(element, memberTree(tree, name) ?? ATOMIC, member, isOwned)
  })
  return Object.fromEntries(members)
}

const isEmptyMap = (value: unknown) =>
  value === null || (isMap(value) && Object.keys(value).length === 0)

const isNamed = (tree: MergeTree, name: string) =>
  tree.type === 'map' && Object.hasOwn(tree.fields, name)

const listContentOf = (tree: MergeTree, value: unknown): FieldsV1 | undefined => {
  const { byElement, isExact } = itemsOf(tree, value ?? [])
  if (!(value === null || Array.isArray(value)) || !isExact) return undefined
  const itemTree = tree.type === 'list' ? tree.items : ATOMIC
  const items = [...byElement].flatMap(
    ([
      element,
      {
        values: [item],
      },
    ]) => fieldsAt(element, itemTree, item, true),
  )
  return Object.fromEntries(items)
}

/** The entry for one element, which itself may be a field beside what is in it; none for no field at all. */
const fieldsAt = (
  element: string,
  tree: MergeTree,
  value: unknown,
  isOwned: boolean,
): readonly (readonly [string, FieldsV1])[] => {
  const content = contentOf(tree, value)
  if (!content) return [[element, {}]]
  if (Object.keys(content).length === 0) return isOwned ? [[element, {}]] : []
  return [[element, isOwned ? { [SELF]: {}, ...content } : content]]
}

/** Compares what the last apply of `manager` owns in `live` with what an apply of `desired` would. */
export const ownership = (
  tree: MergeTree,
  live: KubeObject,
  desired: KubeObject,
  manager: string,
): Ownership => {
  const owned = pathsOf(applyEntryOf(live, manager)?.fields ?? {})
  const wanted = pathsOf(fieldsOf(tree, desired))
  return { missing: without(wanted, owned), extra: without(owned, wanted) }
}

type Paths = ReadonlyMap<string, FieldPath>

const without = (paths: Paths, others: Paths): readonly FieldPath[] =>
  [...paths].flatMap(([name, path]) => (others.has(name) ? [] : [path]))

const applyEntryOf = ({ metadata: { managedFields = [] } }: KubeObject, manager: string) => {
  const index = managedFields.findIndex(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource,
  )
  const entry = managedFields[index]
  return entry && { entries: managedFields, index, fields: entry.fieldsV1 ?? {} }
}

/**
 * The JSON patch after which the last apply of `manager` owns none of these fields any more, so that
 * leaving them out of the next apply keeps their values; undefined where it owns none of them. `label` is the key of
 * a label that every apply of the manager holds.
 */
export const releaseOperations = (
  live: KubeObject,
  manager: string,
  paths: readonly FieldPath[],
  label: string,
): readonly Operation[] | undefined => {
  const rest = restOf(live, manager, paths)
  if (!rest) return undefined
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    replacement(live, rest.index, rest.fields, label),
  ]
}

/** The object as that patch leaves it, as far as its owners go; itself where there is nothing to release. */
export const released = (
  live: KubeObject,
  manager: string,
  paths: readonly FieldPath[],
): KubeObject => {
  const rest = restOf(live, manager, paths)
  if (!rest) return live
  const { entries, index, fields } = rest
  const managedFields = entries.with(index, { ...entries[index], fieldsV1: fields })
  return { ...live, metadata: { ...live.metadata, managedFields } }
}

/** What the manager's last apply owns besides these fields; undefined where it owns none of them. */
const restOf = (live: KubeObject, manager: string, paths: readonly FieldPath[]) => {
  const entry = applyEntryOf(live, manager)
  const fields = entry && withoutPaths(entry.fields, paths)
  return entry && fields && fields !== entry.fields ? { ...entry, fields } : undefined
}

const replacement = (
  live: KubeObject,
  index: number,
  fields: JsonMap,
  label: string,
): Operation => {
  const path = `/metadata/managedFields/${index}`
  if (Object.keys(fields).length > 0)
    return { op: 'replace', path: `${path}/fieldsV1`, value: fields }
  // The server takes an empty list of managers for an oversight and keeps the one that it has.
  return live.metadata.managedFields?.length === 1
    ? {
        op: 'replace',
        path: `${path}/fieldsV1`,
        value: { 'f:metadata': { 'f:labels': { [`f:${label}`]: {} } } },
      }
    : { op: 'remove', path }
}

/** The field managers but one that own one of these fields; where nobody does, the fields being gone, the one that wrote last. */
export const managersOf = (
  { metadata: { managedFields = [] } }: KubeObject,
  paths: readonly FieldPath[],
  except: string,
): readonly string[] => {
  const others = managedFields.filter(
    ({ manager, subresource }) => manager !== except && !subresource,
  )
  const names = new Set(paths.map(pathKey))
  const owners = others.filter(({ fieldsV1 = {} }) =>
    [...pathsOf(fieldsV1).keys()].some((name) => names.has(name)),
  )
  const found = owners.length > 0 ? owners : others.toSorted(byTime).slice(-1)
  return [...new Set(found.map(({ manager = '' }) => manager))]
}

/** Whether no manager owns one of the fields. */
export const isSomeOrphaned = (
  { metadata: { managedFields = [] } }: KubeObject,
  paths: readonly FieldPath[],
): boolean => {
  if (paths.length === 0) return false
  const entries = managedFields.filter(({ subresource }) => !subresource)
  const owned = new Set(entries.flatMap(({ fieldsV1 = {} }) => [...pathsOf(fieldsV1).keys()]))
  return paths.some((path) => !owned.has(pathKey(path)))
}

const byTime = (a: ManagedFieldsEntry, b: ManagedFieldsEntry) =>
  String(a.time) < String(b.time) ? -1 : 1
