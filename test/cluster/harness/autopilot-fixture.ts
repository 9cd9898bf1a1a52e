import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { loadCatalogWith } from '../../../src/cli/assets.ts'
import { type Client, connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { install } from '../../../tools/control-plane/install.ts'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import { lastLines } from '../../../tools/control-plane/processes.ts'
import { type Autopilot, startAutopilot } from '../../../tools/dev/autopilot.ts'
import { untilReady } from '../../../tools/dev/readiness.ts'
import { callsOf } from './calls.ts'
import { type Scope, type TestCluster, type TestClusterOptions, testCluster } from './fixture.ts'
import { manifestsOf } from './manifests.ts'
import { type Behind, kubeconfigFor } from './network/proxy.ts'
import { HCO, HEALTH_CHECK, STATE } from './objects.ts'
import { createPerson, type Person } from './person.ts'
import { leaveOut } from './plane/leave-out.ts'
import { ENTRY, environmentOf, NAMESPACE, ownProgram, type Program } from './program.ts'
import { createEvents, createMetrics, type SeenEvent } from './readings.ts'
import { PATIENCE_S } from './stalls.ts'
import { until } from './until.ts'

export { ENTRY, NAMESPACE }

/** How the product is started for the tests of one file. */
export interface AutopilotClusterOptions extends TestClusterOptions {
  readonly webhookFlags?: readonly string[]
  readonly reconcilerFlags?: readonly string[]
  /** The API server waits for the webhook only as long as it does by default: where that is the subject. */
  readonly isImpatient?: boolean
  /** Settles when both processes run; by default only when every object is at its baseline. */
  readonly isEarly?: boolean
  /** The program that runs; by default the one that ships, with its own catalog. */
  readonly program?: Program
  /** A folder of assets of one's own, for both processes. */
  readonly assets?: string
  /** Which of the definitions and samples are there from the start; by default all. */
  readonly only?: (manifest: Manifest) => boolean
  /** What stands between the processes and the API server, if anything. */
  readonly through?: (plane: TestCluster) => Promise<Behind>
  /** What the processes' environment has besides. */
  readonly env?: Readonly<Record<string, string>>
}

/** What becomes different while a process is down. */
export interface Change {
  /** The program that runs from now on. */
  readonly program?: Program
  /** What its environment has besides; an empty text is as good as nothing. */
  readonly env?: Readonly<Record<string, string>>
  readonly meanwhile?: () => Promise<unknown>
}

/** An object as it is read back, loosely typed: tests reach deep into it. */
// biome-ignore lint/suspicious/noExplicitAny: what is read is compared at once, a wrong path fails the test
export type Loose = any

/** A cluster with both processes at work on it. */
export interface AutopilotCluster extends TestCluster {
  readonly autopilot: Autopilot
  /** Somebody of the group that administrates the platform. */
  person(name: string): Person
  /** Reads an object; undefined where there is none. */
  read(path: string): Promise<Loose>
  /**
   * Waits until the API server's own cache has an object as it is stored: a write that finds an older one there is tried, and
   * judged, a second time.
   */
  untilCached(path: string): Promise<void>
  /** The sum of all series of a metric whose labels contain a text. */
  metric(of: 'webhook' | 'reconciler', name: string, labels?: string): Promise<number>
  /** How many writes the webhook has judged so far. */
  judged(): Promise<number>
  /** Whether an edit would be put back before it is stored. It is a dry run: nobody's bucket gets emptier. */
  isJudged(): Promise<boolean>
  /** How often the API server has asked the webhook so far, by its own count. */
  asked(): Promise<number>
  /** Waits until the reconciler compared this object of the catalog twice more. */
  untilCompared(name: string): Promise<void>
  /** Waits for an event, and gives all of its kind. */
  untilEvent(reason: string, note: RegExp): Promise<SeenEvent>
  events(reason: string): Promise<readonly SeenEvent[]>
  /** The log of a process, from its first start on. */
  log(of: 'webhook' | 'reconciler'): string
  /** Installs these of the definitions and samples. */
  install(which: (manifest: Manifest) => boolean): Promise<void>
  /** Kills the webhook, as a machine that fails would, does something, and starts it again. */
  withoutWebhook<Result>(work: () => Promise<Result>): Promise<Result>
  /** Ends a process in order, and starts it again on the same ports; a reconciler until it leads again. */
  restart(of: 'webhook' | 'reconciler', change?: Change): Promise<void>
}

/** Starts a cluster and the product on it, under its own ServiceAccounts; both end with the test. */
export async function autopilotCluster(
  t: Scope,
  {
    webhookFlags = [],
    reconcilerFlags = [],
    isImpatient = false,
    isEarly = false,
    program = ownProgram(),
    assets,
    only,
    through,
    env = {},
    ...rest
  }: AutopilotClusterOptions = {},
): Promise<AutopilotCluster> {
  const cluster = await testCluster(t, rest)
  const installSome = (which: (manifest: Manifest) => boolean) =>
    install(cluster, manifestsOf(rest).filter(which))
  if (only)
    await leaveOut(
      cluster,
      manifestsOf(rest).filter((manifest) => !only(manifest)),
    )
  const kubeconfig = loadKubeconfig(cluster.kubeconfig)
  const client = await connect(kubeconfig)
  const folder = join(cluster.dataDir, 'autopilot')
  const link = join(cluster.dataDir, 'program')
  const variables: Record<string, string> = {}
  const run = ({ entry }: Program) => {
    rmSync(link, { force: true })
    symlinkSync(entry, link)
    Object.assign(variables, environmentOf(entry))
  }
  run(program)
  Object.assign(variables, env)
  const autopilot = await startAutopilot({
    client,
    kubeconfig: through ? kubeconfigFor(await through(cluster)) : kubeconfig,
    catalog: assets ? await loadCatalogWith({ namespace: NAMESPACE, assets }) : program.catalog,
    namespace: NAMESPACE,
    ...(assets !== undefined && { assets }),
    folder,
    webhookHost: '127.0.0.1',
    entry: link,
    env: variables,
    webhookFlags,
    reconcilerFlags: [
      '--disruptive-changes=apply',
      // Tests edit more often in a minute than people do.
      '--heal-limit=1000',
      ...(isImpatient ? [] : [`--webhook-timeout=${PATIENCE_S}`]),
      ...reconcilerFlags,
    ],
  })
  t.teardown(async () => {
    for (const child of [autopilot.webhook.child(), autopilot.reconciler.child()])
      if (!child.isRunning())
        t.comment(`the ${child.name} ended by itself:\n${lastLines(child.output(), 20)}`)
    await autopilot.stop()
    await client.close()
  })
  const read = createRead(cluster)
  const metrics = createMetrics(autopilot)
  if (!isEarly) await untilAtWork({ ...cluster, read }, autopilot, client)
  return Object.assign(cluster, {
    autopilot,
    read,
    async untilCached(path: string) {
      const object: Loose = await read(path)
      const version = object?.metadata.resourceVersion
      const isCached = async () =>
        [200, 404].includes(
          (await cluster.admin('GET', `${path}?resourceVersion=${version}`)).status,
        )
      if (version) await until(`${path} is cached as it is stored`, isCached)
    },
    person: (name: string) => createPerson(cluster, name),
    ...metrics,
    asked: async () => (await callsOf(cluster)).asked,
    async isJudged() {
      const edit = { spec: { minHealthy: '2%' } }
      const path = `${HEALTH_CHECK}?dryRun=All`
      const type = 'application/merge-patch+json'
      const { status, body } = await cluster.admin<Loose>('PATCH', path, edit, type)
      return status === 200 && body.spec.minHealthy !== edit.spec.minHealthy
    },
    ...createEvents(cluster),
    install: installSome,
    log: (of: 'webhook' | 'reconciler') => readFileSync(join(folder, `${of}.log`), 'utf8'),
    async withoutWebhook<Result>(work: () => Promise<Result>) {
      await autopilot.webhook.child().kill()
      try {
        return await work()
      } finally {
        autopilot.webhook.start()
        await until('the webhook is ready again', () => isReady(autopilot.opsPorts.webhook), 60_000)
      }
    },
    async restart(of: 'webhook' | 'reconciler', { program, env: more, meanwhile }: Change = {}) {
      await autopilot[of].stop()
      if (program) run(program)
      Object.assign(variables, more)
      await meanwhile?.()
      autopilot[of].start()
      await until(`the ${of} is ready again`, () => isReady(autopilot.opsPorts[of]), 60_000)
      if (of === 'reconciler')
        await until(
          'it leads',
          async () => (await metrics.metric(of, 'virt_platform_leader')) === 1,
        )
    },
  })
}

/**
 * Waits until both processes do all that they are there for: the webhook is asked by both of its entries, of which the second is
 * registered after the first, and the leader has noted that it registered them.
 */
export async function untilAtWork(
  { admin, callsBefore, read }: Pick<AutopilotCluster, 'admin' | 'callsBefore' | 'read'>,
  autopilot: Autopilot,
  client: Client,
): Promise<void> {
  await untilReady(autopilot, client, (await read(HCO)) as KubeObject)
  await until('the leader has noted both registrations', async () => {
    const registered = (await read(STATE))?.data['registered.json'] ?? '{}'
    return Object.keys(JSON.parse(registered)).length === 2
  })
  const label = { metadata: { labels: { 'example.com/asked': 'yes' } } }
  await until('the API server asks by the second entry, too', async () => {
    await admin('PATCH', `${HCO}?dryRun=All`, label, 'application/merge-patch+json')
    const { series } = await callsOf({ admin, callsBefore })
    return Object.keys(series).some((name) => name.includes('"validate.platform.kubevirt.io"'))
  })
}

/** Whether a process says that it is ready. */
export const isReady = (opsPort: number) =>
  fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

const createRead = (cluster: TestCluster) => async (path: string) => {
  const { status, body } = await cluster.admin('GET', path)
  return status === 404 ? undefined : body
}
