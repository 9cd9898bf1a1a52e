import fc from 'fast-check'
import t from 'tap'
import { install } from '../../src/cli/control-plane/install.ts'
import { connect } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import { createSchemas, schemaKey } from '../../src/shared/cluster/schemas.ts'
import { canonicalJson } from '../../src/shared/engine/canonical.ts'
import { drift, merge } from '../../src/shared/engine/merge.ts'
import { type MergeTree, memberTree } from '../../src/shared/engine/merge-tree.ts'
import type { KubeObject } from '../../src/shared/engine/object.ts'
import { fieldsOf } from '../../src/shared/engine/ownership.ts'
import { seed } from '../unit/engine/schemas.ts'
import { type TestCluster, testCluster } from './fixture.ts'
import { EVERY_SORT, MERGE_CASES, type MergeCase } from './merge-cases.ts'
import { EVERY_SORT_CRD, everySpec } from './merge-specs.ts'

const RUNS = 100
const ORACLE = 'oracle'

t.test('the merge, beside the API server’s own', async (t) => {
  const cluster = await testCluster(t, { samples: false })
  await install(cluster, [EVERY_SORT_CRD])
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  const kinds = MERGE_CASES.map(({ kind: { apiVersion, kind } }) => ({ apiVersion, kind }))
  const queries = kinds.map((kind) => ({ ...kind, enumPointers: [] }))
  const schemas = await createSchemas(client)(queries)
  const treeOf = (kind: { apiVersion: string; kind: string }) => {
    const tree = schemas.get(schemaKey(kind))?.tree
    if (!tree) throw new Error(`no schema of ${kind.kind}`)
    return tree
  }

  for (const pair of MERGE_CASES) {
    await t.test(`merges ${pair.name} of a ${pair.kind.kind} as it does`, async (t) => {
      const tree = treeOf(pair.kind)
      const seen = await ask(cluster, tree, pair)
      if (!seen) throw new Error('the API server refused the apply')
      t.same(seen.ours, seen.theirs)
      t.same(seen.ourFields, seen.theirFields)
      t.same(drift(tree, seen.merged, seen.desired), [], 'and nothing is left to be merged')
    })
  }

  await t.test(`merges any two specs as it does, with seed ${seed}`, async (t) => {
    const tree = treeOf(EVERY_SORT)
    const pairs = fc.sample(fc.tuple(everySpec, everySpec), { numRuns: RUNS, seed })
    let compared = 0
    for (const [live, desired] of pairs) {
      const pair = {
        name: 'any',
        kind: EVERY_SORT,
        live: { spec: live },
        desired: { spec: desired },
      }
      const seen = await ask(cluster, tree, pair)
      if (!seen) continue
      compared += 1
      const both = [seen.theirs, seen.theirFields]
      if (canonicalJson([seen.ours, seen.ourFields]) !== canonicalJson(both))
        t.same([seen.ours, seen.ourFields], both, canonicalJson({ live, desired }))
    }
    t.ok(compared > RUNS / 2, `${compared} of ${RUNS} pairs are ones that the API server takes`)
  })
})

/** What the engine and what the API server make of a pair; undefined where the latter refuses it. */
async function ask(cluster: TestCluster, tree: MergeTree, pair: MergeCase) {
  const { apiVersion, kind, path, name = 'pair' } = pair.kind
  const object = (content: object, metadata = {}) =>
    ({ apiVersion, kind, ...content, metadata: { name, ...metadata } }) as KubeObject
  const desired = object(pair.desired, pair.desiredMetadata)
  const one = `${path}/${name}`
  const created = await cluster.admin<KubeObject>(
    'POST',
    path,
    object(pair.live, pair.liveMetadata),
  )
  if (created.status !== 201) return undefined
  try {
    const apply = `${one}?dryRun=All&force=true&fieldManager=${ORACLE}`
    const type = 'application/apply-patch+yaml'
    const applied = await cluster.admin<KubeObject>('PATCH', apply, desired, type)
    if (applied.status !== 200) return undefined
    const merged = merge(tree, created.body, desired)
    // Stored by an update, what the engine made goes through the same defaulting.
    const stored = await cluster.admin<KubeObject>('PUT', `${one}?dryRun=All`, merged)
    return {
      merged,
      desired,
      ours: comparable(tree, stored.body),
      theirs: comparable(tree, applied.body),
      ourFields: canonicalJson(fieldsOf(tree, desired)),
      theirFields: canonicalJson(fieldsAppliedTo(applied.body)),
    }
  } finally {
    await cluster.admin(
      'PATCH',
      one,
      { metadata: { finalizers: null } },
      'application/merge-patch+json',
    )
    await cluster.admin('DELETE', one)
  }
}

const fieldsAppliedTo = ({ metadata }: KubeObject) =>
  metadata.managedFields?.find(({ manager }) => manager === ORACLE)?.fieldsV1 ?? {}

/** Without what the server sets by itself, and with lists that have no order sorted. */
function comparable(tree: MergeTree, { metadata, status: _status, ...content }: KubeObject) {
  const { name, labels, annotations, finalizers } = metadata ?? {}
  const object = { ...content, metadata: { name, labels, annotations, finalizers } }
  return JSON.parse(canonicalJson(sorted(tree, object)))
}

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
