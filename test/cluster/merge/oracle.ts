import { canonicalJson } from '../../../src/shared/engine/json/canonical.ts'
import type { JsonMap, KubeObject } from '../../../src/shared/engine/json/object.ts'
import { drift, merge } from '../../../src/shared/engine/merge/merge.ts'
import { type MergeTree, memberTree } from '../../../src/shared/engine/merge/merge-tree.ts'
import { fieldsOf } from '../../../src/shared/engine/merge/ownership.ts'
import { discoverKinds, type Kinds } from '../../../tools/control-plane/kinds.ts'
import type { Answer, TestCluster } from '../harness/fixture.ts'
import type { Served, TypeMeta } from './served.ts'

/** What is stored and what is desired of one object, without its name and its type. */
export interface MergePair extends TypeMeta {
  /** The only name that the kind takes. */
  readonly onlyName?: string
  readonly live: JsonMap
  readonly desired: JsonMap
}

/** What an apply made of a pair. */
interface Account {
  readonly object: unknown
  readonly fields: unknown
}

/** What became of a pair: both accounts of it, or the server's reason to refuse it. */
export type Comparison =
  | {
      readonly kind: 'compared'
      readonly ours: Account
      readonly theirs: Account
      /** Where our merge of our merge would still change something. */
      readonly left: readonly string[]
    }
  | { readonly kind: 'refused'; readonly message: string }

/** Asks the engine and the API server what an apply makes of a pair. */
export type Oracle = (pair: MergePair) => Promise<Comparison>

interface Objects {
  readonly cluster: TestCluster
  readonly tree: MergeTree
  readonly path: string
  readonly live: KubeObject
  readonly desired: KubeObject
}

const ORACLE = 'oracle'

/** The API server, asked by a manager that owns nothing in the object. */
export async function createOracle(
  cluster: TestCluster,
  servedOf: (kind: TypeMeta) => Served,
): Promise<Oracle> {
  const kinds = await discoverKinds(cluster)
  let count = 0
  return async (pair) => {
    count += 1
    const name = pair.onlyName ?? `pair-${count}`
    const live = objectOf(pair, name, pair.live)
    const desired = objectOf(pair, name, pair.desired)
    return await compare({
      cluster,
      tree: servedOf(pair).tree,
      path: pathOf(kinds, pair, name),
      live,
      desired,
    })
  }
}

const objectOf = ({ apiVersion, kind }: MergePair, name: string, content: JsonMap): KubeObject => ({
  ...content,
  apiVersion,
  kind,
  metadata: { ...(content.metadata as object), name },
})

const pathOf = (kinds: Kinds, { apiVersion, kind }: MergePair, name: string): string => {
  const served = kinds.get(`${apiVersion} ${kind}`)
  if (!served) throw new Error(`${apiVersion} ${kind} is not served here`)
  return served.pathOf(name)
}

async function compare(objects: Objects): Promise<Comparison> {
  const { cluster, path, live } = objects
  const created = await cluster.admin('POST', path.slice(0, path.lastIndexOf('/')), live)
  if (created.status !== 201) return refused('create', created)
  try {
    return await compareApplied(objects, created.body as KubeObject)
  } finally {
    if (live.metadata.finalizers) await withoutFinalizers(objects)
    await cluster.admin('DELETE', path)
  }
}

async function compareApplied(objects: Objects, created: KubeObject): Promise<Comparison> {
  const { cluster, tree, path, desired } = objects
  const query = `${path}?dryRun=All&force=true&fieldManager=${ORACLE}`
  const applied = await cluster.admin('PATCH', query, desired, 'application/apply-patch+yaml')
  if (applied.status !== 200) return refused('apply', applied)
  const merged = merge(tree, created, desired)
  // Stored by an update, what the engine made goes through the same defaulting.
  const stored = await cluster.admin('PUT', `${path}?dryRun=All`, merged)
  const theirs = applied.body as KubeObject
  return {
    kind: 'compared',
    ours: { object: comparable(tree, stored), fields: inOrder(fieldsOf(tree, desired)) },
    theirs: { object: comparable(tree, applied), fields: inOrder(fieldsAppliedTo(theirs)) },
    left: drift(tree, merged, desired).map(({ pointer }) => pointer),
  }
}

const refused = (what: string, { status, body }: Answer<unknown>): Comparison => {
  const { message = String(body) } = body as { readonly message?: string }
  // Any other answer is a fault of the test's: a name that is taken, a path that is wrong, too many requests.
  const isJudged = [400, 403, 422, 500].includes(status) || (status === 409 && what === 'apply')
  if (!isJudged) throw new Error(`${what}: ${status} ${message}`)
  return { kind: 'refused', message: `${what}: ${message}` }
}

const withoutFinalizers = ({ cluster, path }: Objects) =>
  cluster.admin('PATCH', path, { metadata: { finalizers: null } }, 'application/merge-patch+json')

const fieldsAppliedTo = ({ metadata }: KubeObject) =>
  metadata.managedFields?.find(({ manager }) => manager === ORACLE)?.fieldsV1 ?? {}

/** Without what the server sets by itself, and with lists that have no order sorted; or what it complains of. */
function comparable(tree: MergeTree, { status, body }: Answer<unknown>): unknown {
  if (status !== 200) return body
  const { metadata, status: _status, ...content } = body as KubeObject
  const { name, labels, annotations, finalizers, ownerReferences } = metadata
  const stated = { name, labels, annotations, finalizers, ownerReferences }
  return inOrder(sorted(tree, { ...content, metadata: stated }))
}

const inOrder = (value: unknown): unknown => JSON.parse(canonicalJson(value))

function sorted(tree: MergeTree | undefined, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => sorted(tree?.type === 'list' ? tree.items : undefined, item))
    const isUnordered = tree?.type === 'list' || tree?.type === 'set'
    return isUnordered
      ? items.sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1))
      : items
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    sorted(tree && memberTree(tree, name), member),
  ])
  return Object.fromEntries(members)
}
