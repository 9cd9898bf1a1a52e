import { join } from 'node:path'
import type { Test } from 'tap'
import { MANAGED_BY } from '../../../src/shared/baseline/annotations.ts'
import { namespaceOf } from '../../../src/shared/baseline/catalog/catalog.ts'
import { accounts } from '../../../src/shared/baseline/generated/rbac.ts'
import { BASELINE } from '../../../src/shared/baseline/names.ts'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { Autopilot } from '../../../tools/dev/autopilot.ts'
import { startAutopilot } from '../../../tools/dev/autopilot.ts'
import { untilReady } from '../../../tools/dev/readiness.ts'
import { asLine, audited } from '../harness/audit.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import type { TestCluster } from '../harness/fixture.ts'
import { HCO, MUTATING, VALIDATING } from '../harness/objects.ts'
import { environmentOf, NAMESPACE, ownProgram } from '../harness/program.ts'
import { PATIENCE_S } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'

/** What an uninstall may take at most, whatever its order. */
export const WITHIN_MS = 120_000

/** The time that there is for an uninstall, all of its waits together. */
export interface Deadline {
  /** The first step is done now; of later calls nothing comes. */
  start(): void
  /** Milliseconds; all of it before the first step. */
  left(): number
}

export function createDeadline(): Deadline {
  let end: number | undefined
  return {
    start() {
      end ??= performance.now() + WITHIN_MS
    },
    left: () => (end === undefined ? WITHIN_MS : Math.max(0, end - performance.now())),
  }
}

const merge = 'application/merge-patch+json'
const { catalog, entry } = ownProgram()

/** The ClusterRole that our webhook configurations belong to. */
export const OWNER = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${BASELINE.reconcilerRole}`
export const OUR_NAMESPACE = `/api/v1/namespaces/${NAMESPACE}`
export const REGISTERED = [MUTATING, VALIDATING] as const

const own: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
/** The webhook's, as the API server finds it in a cluster. */
export const SERVICE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'virt-platform-autopilot-webhook', namespace: NAMESPACE },
  spec: { ports: [{ port: 443, targetPort: 9443 }], selector: { app: 'virt-platform-autopilot' } },
}
/** What an installation consists of besides its processes. */
export const INSTALLED: readonly KubeObject[] = [own, SERVICE, ...accounts(catalog, NAMESPACE)]

/** Asks kubectl to delete these objects, and waits for none of them. */
export async function remove(
  { kubectl }: TestCluster,
  objects: readonly KubeObject[],
): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  const said = await kubectl(['delete', '--ignore-not-found', '--wait=false', '-f', '-'], { input })
  if (said.code !== 0) throw new Error(`kubectl delete: ${said.stderr}`)
}

/** Installs the product on a cluster: both processes run, and every object is at its baseline. */
export async function installOn(t: Test, cluster: TestCluster, name: string): Promise<Autopilot> {
  const kubeconfig = loadKubeconfig(cluster.kubeconfig)
  const client = await connect(kubeconfig)
  const autopilot = await startAutopilot({
    client,
    kubeconfig,
    catalog,
    namespace: NAMESPACE,
    folder: join(cluster.dataDir, name),
    webhookHost: '127.0.0.1',
    entry,
    env: environmentOf(entry),
    webhookFlags: ['--enforcement=deny'],
    reconcilerFlags: [
      '--disruptive-changes=apply',
      '--heal-limit=1000',
      `--webhook-timeout=${PATIENCE_S}`,
    ],
  })
  t.teardown(async () => {
    await autopilot.stop()
    await client.close()
  })
  await cluster.admin('POST', `${OUR_NAMESPACE}/services`, SERVICE)
  await untilReady(autopilot, client, await readFrom(cluster, HCO))
  return autopilot
}

/** Reads an object; undefined where there is none. */
export async function readFrom({ admin }: TestCluster, path: string): Promise<Loose> {
  const { status, body } = await admin('GET', path)
  return status === 404 ? undefined : body
}

/** Waits until an object is gone. */
export const untilGone = (
  cluster: TestCluster,
  path: string,
  withinMs = WITHIN_MS,
): Promise<true> => until(`${path} is gone`, async () => !(await readFrom(cluster, path)), withinMs)

/** The managed objects there are, but for those in our own namespace, by their paths. */
export async function managedObjects(cluster: TestCluster): Promise<ReadonlyMap<string, Loose>> {
  const found = new Map<string, Loose>()
  for (const asset of catalog) {
    const namespace = namespaceOf(asset, 'openshift-cnv')
    if (namespace === NAMESPACE) continue
    const { group, versions, resource, name } = asset.object
    const apiVersion = group === '' ? (versions[0] ?? '') : `${group}/${versions[0]}`
    const at = { apiVersion, resource, ...(namespace !== undefined && { namespace }) }
    const object = await readFrom(cluster, pathOf(at, name))
    if (object?.metadata) found.set(pathOf(at, name), object)
  }
  return found
}

/** What people would miss of these objects. */
export const contentsOf = (objects: ReadonlyMap<string, Loose>): unknown =>
  [...objects].map(([path, { metadata, spec, rules }]) => {
    const { uid, labels, annotations } = metadata
    return { path, uid, labels, annotations, spec, rules }
  })

/** Each of these objects can be changed, deleted and made again, and nobody holds it up or puts it back. */
export async function areFree(
  t: Test,
  { admin }: TestCluster,
  objects: ReadonlyMap<string, Loose>,
): Promise<void> {
  for (const [path, { apiVersion, kind, metadata, ...rest }] of objects) {
    const { name, namespace, labels, ownerReferences, finalizers } = metadata
    t.same([ownerReferences, finalizers], [undefined, undefined], `nothing holds ${path}`)
    const unlabelled = { metadata: { labels: { [MANAGED_BY]: null } } }
    const updated = await admin<Loose>('PATCH', path, unlabelled, merge)
    t.equal(updated.status, 200, `${path} is updated`)
    t.equal(updated.body.metadata.labels?.[MANAGED_BY], undefined, 'and not put back')
    t.equal((await admin('DELETE', path)).status, 200, `${path} is deleted`)
    t.equal((await admin('GET', path)).status, 404)
    const body = { apiVersion, kind, metadata: { name, namespace, labels }, ...rest }
    const created = await admin('POST', path.slice(0, path.lastIndexOf('/')), body)
    t.equal(created.status, 201, `${path} is made again`)
  }
}

const OWNER_ASKED = `get ${OWNER} `
const REGISTRATION = /^(patch|create|update) \/apis\/admissionregistration/

/** Waits until the leader has found its owner gone twice since this many requests; gives what it registered since then. */
export async function untilGivenUp(
  cluster: TestCluster,
  since: number,
): Promise<readonly string[]> {
  const lines = () => audited(cluster).slice(since).map(asLine)
  const isRefusal = (line: string) => line.startsWith(OWNER_ASKED) && /40[34]$/.test(line)
  await until(
    'the leader has looked for its owner twice',
    async () => lines().filter(isRefusal).length > 1,
    WITHIN_MS,
  )
  return lines().filter((line) => REGISTRATION.test(line))
}
