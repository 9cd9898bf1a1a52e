import { isMap, type JsonMap } from '../json/object.ts'
import { formatPointer } from '../json/pointer.ts'
import { type MergeTree, memberTree } from './merge-tree.ts'

/** More than anybody reads. */
const MOST = 20

/** Pointers to the nulls outside metadata that the API server does not keep: it drops a field's null, or puts its default in its place. */
export const nullFields = (tree: MergeTree, object: object) =>
  misfitsIn(tree, object, ({ parent, name, member }) => member === null && !keepsNull(parent, name))

/** A field that the schema names is typed even where its content is not. */
const keepsNull = (tree: MergeTree | undefined, name: string) =>
  tree?.type === 'deduced' ||
  (tree?.type === 'map' && !Object.hasOwn(tree.fields, name) && tree.rest?.type === 'deduced')

/** Pointers to the fields outside metadata that the schema does not know: the API server refuses them in an apply and drops them elsewhere. */
export const unknownFields = (tree: MergeTree, object: object) =>
  misfitsIn(tree, object, ({ parent, name }) => parent?.type === 'map' && !memberTree(parent, name))

interface Place {
  readonly path: readonly string[]
  readonly name: string
  readonly member: unknown
  /** The tree of what the member is in; undefined where the schema has no word on that. */
  readonly parent: MergeTree | undefined
}

function misfitsIn(tree: MergeTree, object: object, isMisfit: (place: Place) => boolean) {
  const { metadata: _metadata, ...content } = object as JsonMap
  const misfits = [...placesIn(tree, content, [])].filter(isMisfit)
  return misfits.slice(0, MOST).map(({ path }) => formatPointer(path))
}

function* placesIn(
  tree: MergeTree | undefined,
  value: unknown,
  outer: readonly string[],
): Generator<Place> {
  if (typeof value !== 'object' || value === null) return
  const parent = isFor(tree, value) ? tree : undefined
  for (const [name, member] of Object.entries(value)) {
    const path = [...outer, name]
    yield { path, name, member, parent }
    yield* placesIn(treeWithin(parent, name), member, path)
  }
}

const isFor = (tree: MergeTree | undefined, value: object) =>
  tree?.type === 'list' ? Array.isArray(value) : tree?.type !== 'map' || isMap(value)

const treeWithin = (parent: MergeTree | undefined, name: string) =>
  parent?.type === 'list' ? parent.items : parent && memberTree(parent, name)
