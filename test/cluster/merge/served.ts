import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { createSchemas, schemaKey } from '../../../src/shared/cluster/schemas.ts'
import { groupOf, type JsonMap } from '../../../src/shared/engine/json/object.ts'
import type { MergeTree } from '../../../src/shared/engine/merge/merge-tree.ts'
import type { Resolve, Schema } from '../../../src/shared/engine/merge/tree-of.ts'
import type { TestCluster } from '../harness/fixture.ts'
import { until } from '../harness/until.ts'

/** What names a kind. */
export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

/** What the API server publishes of a kind, and what the product makes of it. */
export interface Served {
  readonly schema: Schema
  readonly resolve: Resolve
  readonly tree: MergeTree
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Reads the schemas of the kinds, and waits until each of them is published. */
export async function readServed(
  cluster: TestCluster,
  kinds: readonly TypeMeta[],
): Promise<(kind: TypeMeta) => Served> {
  const trees = await readTrees(cluster, kinds)
  const versions = [...new Set(kinds.map(({ apiVersion }) => apiVersion))]
  const documents = await Promise.all(
    versions.map(async (version) => [version, await readDocument(cluster, version)] as const),
  )
  const documentOf = new Map(documents)
  return (kind) => {
    const schemas = documentOf.get(kind.apiVersion)?.components.schemas ?? {}
    const schema = Object.values(schemas).find((candidate) => isOf(candidate, kind))
    const tree = trees.get(schemaKey(kind))
    if (!(schema && tree)) throw new Error(`no schema of ${kind.apiVersion} ${kind.kind}`)
    return { schema, tree, resolve: (ref) => schemas[ref.slice(REF.length)] }
  }
}

const REF = '#/components/schemas/'

async function readTrees(cluster: TestCluster, kinds: readonly TypeMeta[]) {
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  try {
    const load = createSchemas(client)
    const queries = kinds.map(({ apiVersion, kind }) => ({
      apiVersion,
      kind,
      enumPointers: [],
      fieldPointers: [],
    }))
    const keys = new Set(kinds.map(schemaKey))
    const served = await until('the schema of each kind is published', async () => {
      const schemas = await load(queries)
      return schemas.size === keys.size && schemas
    })
    return new Map([...served].map(([key, { tree }]) => [key, tree]))
  } finally {
    await client.close()
  }
}

async function readDocument(cluster: TestCluster, apiVersion: string): Promise<Document> {
  const path = `/openapi/v3/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`
  const { status, body } = await cluster.admin<Document>('GET', path)
  if (status !== 200) throw new Error(`reading ${path}: ${status}`)
  return body
}

const isOf = (schema: Schema, { apiVersion, kind }: TypeMeta) => {
  const kinds = schema['x-kubernetes-group-version-kind'] as readonly JsonMap[] | undefined
  const version = apiVersion.split('/').at(-1)
  const group = groupOf(apiVersion)
  return kinds?.some((one) => one.kind === kind && one.group === group && one.version === version)
}
