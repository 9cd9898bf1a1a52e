import { join } from 'node:path'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { type Leashed, spawnLeashed } from '../../../tools/control-plane/processes.ts'
import {
  type AutopilotCluster,
  type AutopilotClusterOptions,
  autopilotCluster,
  ENTRY,
  NAMESPACE,
  untilAtWork,
} from '../harness/autopilot-fixture.ts'
import { type Calls, callsOf } from '../harness/calls.ts'
import type { Scope } from '../harness/fixture.ts'
import { environmentOf } from '../harness/program.ts'
import { STALL_MS, watchStalls } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'
import { type Balancer, type Endpoint, startBalancer } from './balancer.ts'
import { type Fates, keepNumber, type Load, startLoad } from './load.ts'

/** One process of the webhook behind the balancer. */
export interface Replica extends Endpoint {
  readonly process: Leashed
}

/** What was lost of the API server's calls, by its own count. */
interface Lost extends Pick<Calls, 'failedOpen' | 'failedClosed'> {
  /** How many of those that failed open no webhook could have kept: the machine stood still, and the API server gave up. */
  readonly excused: number
}

/** A cluster whose API server reaches the webhook through a balancer. */
export interface RollingCluster extends AutopilotCluster {
  readonly balancer: Balancer
  /** The two replicas that are there from the start. */
  readonly pair: readonly [Replica, Replica]
  /** Starts one more, and waits until it gets connections. */
  readonly startReplica: (entry?: string) => Promise<Replica>
  readonly untilServing: (replica: Endpoint) => Promise<void>
  readonly untilAway: (replica: Endpoint) => Promise<void>
  /** Lets a load run before, while and after something happens; what became of its writes, and of the calls. */
  readonly underLoad: (event: (load: Load) => Promise<void>) => Promise<Fates & Lost>
}

const SLOWEST_MS = 90_000
/** How long a replica goes on serving: longer than the balancer takes to notice, on any machine. */
const GRACE = '--shutdown-grace=5s'
// The load is one user's, who edits more in a second than people do in a year.
const TOLERANT = '--contest-limit=1000000'
const AROUND = 100

/** Starts a cluster with two replicas of the webhook. */
export async function rollingCluster(
  t: Scope,
  { reconcilerFlags = [], ...options }: AutopilotClusterOptions = {},
): Promise<RollingCluster> {
  const balancer = await startBalancer(t)
  const cluster = await autopilotCluster(t, {
    ...options,
    isEarly: true,
    webhookFlags: [GRACE, TOLERANT],
    reconcilerFlags: [`--webhook-url=${balancer.url}`, ...reconcilerFlags],
  })
  const { autopilot } = cluster
  const untilServing = async (replica: Endpoint) => {
    await until('it serves', async () => balancer.isServing(replica), SLOWEST_MS)
  }
  const startReplica = async (entry = ENTRY) => {
    const process = spawnReplica(cluster, { entry })
    t.teardown(() => process.kill())
    const replica = { process, ...(await untilListening(process)) }
    balancer.add(replica)
    await untilServing(replica)
    return replica
  }
  const first = {
    process: autopilot.webhook.child(),
    port: autopilot.webhookPort,
    opsPort: autopilot.opsPorts.webhook,
  }
  balancer.add(first)
  const second = await startReplica()
  await untilServing(first)
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  await untilAtWork(cluster, autopilot, client)
  await client.close()
  await keepNumber(cluster)
  return Object.assign(cluster, {
    balancer,
    pair: [first, second] as const,
    startReplica,
    untilServing,
    untilAway: async (replica: Endpoint) => {
      await until('it is not asked', async () => !balancer.isServing(replica), SLOWEST_MS)
    },
    async underLoad(event: (load: Load) => Promise<void>) {
      const before = { ...(await callsOf(cluster)), abandoned: balancer.abandoned() }
      const stalledMs = watchStalls()
      const load = startLoad(cluster)
      try {
        await load.more(AROUND)
        await event(load)
        await load.more(AROUND)
      } finally {
        await load.stop()
      }
      const after = await callsOf(cluster)
      return {
        ...(await load.stop()),
        failedOpen: after.failedOpen - before.failedOpen,
        failedClosed: after.failedClosed - before.failedClosed,
        excused: stalledMs() < STALL_MS ? 0 : balancer.abandoned() - before.abandoned,
      }
    },
  })
}

/** Starts a webhook under the account of the first, on ports that are free. */
export function spawnReplica(
  { dataDir }: Pick<AutopilotCluster, 'dataDir'>,
  {
    entry = ENTRY,
    flags = [GRACE, TOLERANT],
  }: { readonly entry?: string; readonly flags?: readonly string[] } = {},
): Leashed {
  const folder = join(dataDir, 'autopilot')
  const kubeconfig = join(folder, 'kubeconfig-virt-platform-autopilot-webhook')
  return spawnLeashed({
    name: 'replica',
    file: process.execPath,
    args: [
      entry,
      'webhook',
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${NAMESPACE}`,
      '--listen=127.0.0.1:0',
      '--ops-listen=127.0.0.1:0',
      ...flags,
    ],
    cwd: folder,
    env: environmentOf(entry),
    logFile: join(folder, `replica-${replicas++}.log`),
  })
}

let replicas = 0

/** Waits until a process has ended, and gives how; a child alone does not keep us waiting. */
export async function untilEnded(process: Leashed): Promise<string> {
  await until('it ends', async () => !process.isRunning(), SLOWEST_MS)
  return process.ended
}

/** Waits until a webhook listens, and reads in its log where. */
export const untilListening = (process: Leashed): Promise<Endpoint> =>
  until(
    'it listens',
    async () => {
      const line = process
        .output()
        .split('\n')
        .find((one) => one.includes('"webhook listening"'))
      return line === undefined ? undefined : (JSON.parse(line) as Endpoint)
    },
    SLOWEST_MS,
  )
