import type { Test } from 'tap'
import {
  AssetsController,
  type AssetsControllerOptions,
} from '../../../src/reconciler/baseline/assets-controller.ts'
import type { Outcome } from '../../../src/reconciler/baseline/decide/outcome.ts'
import type { CompleteSnapshot } from '../../../src/reconciler/baseline/gather/read-cluster.ts'
import { withCluster } from '../../../src/reconciler/baseline/gather/read-cluster.ts'
import { Ledger } from '../../../src/reconciler/baseline/ledger.ts'
import { createControllerQueue } from '../../../src/reconciler/manager/manager.ts'
import type { Asset } from '../../../src/shared/baseline/catalog/catalog.ts'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { countingClient } from '../harness/counting-client.ts'
import { testCluster } from '../harness/fixture.ts'
import { HCO, HEALTH_CHECK } from '../harness/objects.ts'
import { NAMESPACE, ownProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const named = (name: string): Asset => {
  const asset = ownProgram().catalog.find((one) => one.name === name)
  if (!asset) throw new Error(`the catalog has no asset ${name}`)
  return asset
}
const hyperConverged = named('hco-golden-config')
/** The asset whose object the controllers keep. */
export const healthCheck = named('node-health-standard')

/** What a controller differs in from that of a leader. */
export interface Changes extends Partial<AssetsControllerOptions> {
  /** The asset, changed. */
  readonly asset?: Asset
}

/** A real API server with one asset's object, and controllers of that which are started and looked at one by one. */
export interface Controllers {
  /** Somebody's merge patch of the object. */
  readonly write: (body: object) => Promise<void>
  readonly stored: () => Promise<KubeObject | undefined>
  /** Deletes the object, and makes a controller that has evaluated nothing yet. */
  readonly fresh: (t: Test, changes?: Changes) => Promise<FreshController>
}

export interface FreshController {
  readonly controller: AssetsController
  /** What was asked about the object, and what came of it, since it was last told to do something. */
  readonly asked: readonly string[]
  readonly outcomes: readonly string[]
  readonly failures: readonly { readonly error: Error; readonly retryInMs: number }[]
  readonly clock: { uptime: number }
  /** Before how many of our writes somebody else is faster. */
  readonly rival: { writes: number }
  /** Each says what was asked and what came of it until nothing was left to do. */
  readonly start: () => Promise<Seen>
  readonly look: () => Promise<Seen>
  readonly resync: () => Promise<Seen>
  /** Has somebody write the field, and waits until the watch has told it. */
  readonly drift: (minHealthy: string) => Promise<void>
}

interface Seen {
  readonly asked: readonly string[]
  readonly outcomes: readonly string[]
}

/** Starts an API server, and calls `work` with what it needs to try controllers on it. */
export async function withControllers(
  t: Test,
  work: (controllers: Controllers) => Promise<void>,
): Promise<void> {
  const { admin, kubeconfig } = await testCluster(t)
  const client = await connect(loadKubeconfig(kubeconfig))
  t.teardown(client.close)
  const patch = async (path: string, body: object) => {
    const { status } = await admin('PATCH', path, body, 'application/merge-patch+json')
    if (status !== 200) throw new Error(`the write to ${path} was answered ${status}`)
  }
  const write = (body: object) => patch(`${HEALTH_CHECK}?fieldManager=somebody`, body)
  const stored = async () => {
    const { status, body } = await admin<KubeObject>('GET', HEALTH_CHECK)
    return status === 404 ? undefined : body
  }
  // It is its admin's, so that it is out of the way.
  await patch(HCO, { metadata: { annotations: { 'platform.kubevirt.io/mode': 'unmanaged' } } })
  const options = {
    client,
    catalog: [hyperConverged, healthCheck],
    namespace: NAMESPACE,
    hcoNamespace: undefined,
    images: {},
    wantsObjects: true,
  }
  await withCluster(options, async ({ snapshot, view }) => {
    if (snapshot.kind === 'unavailable') throw new Error(snapshot.message)
    const untilSeen = () =>
      until('the watch has told what is stored', async () => {
        const { uid, resourceVersion } = (await stored())?.metadata ?? {}
        const seen = view.live(healthCheck)?.metadata
        return seen?.uid === uid && seen?.resourceVersion === resourceVersion
      })
    await work({
      write,
      stored,
      async fresh(t, { asset = healthCheck, ...changes } = {}) {
        await admin('DELETE', HEALTH_CHECK)
        await untilSeen()
        const rival = { writes: 0 }
        const counting = countingClient(client, HEALTH_CHECK, async (what) => {
          if (what === 'PATCH' && rival.writes > 0)
            await write({ metadata: { labels: { round: String(rival.writes--) } } })
        })
        const catalog = [hyperConverged, asset]
        const made = controllerOf({ client: counting, view, catalog, ...changes }, snapshot)
        t.teardown(made.stop)
        const { asked } = counting
        /** Does something, and waits until nothing is left to do. */
        const after = async (cause: () => void): Promise<Seen> => {
          asked.length = 0
          made.outcomes.length = 0
          await made.untilIdle(cause)
          const seen = { asked: [...asked], outcomes: [...made.outcomes] }
          await untilSeen()
          return seen
        }
        return {
          ...made,
          asked,
          rival,
          start: () => after(made.start),
          look: () => after(made.look),
          resync: () => after(made.resync),
          async drift(minHealthy) {
            await write({ spec: { minHealthy } })
            await untilSeen()
          },
        }
      },
    })
  })
}

/** A controller with its queue, which writes down what came of the last asset of its catalog. */
function controllerOf(
  options: Pick<AssetsControllerOptions, 'client' | 'view' | 'catalog'> &
    Partial<AssetsControllerOptions>,
  snapshot: CompleteSnapshot,
) {
  const kept = options.catalog.at(-1)
  const outcomes: string[] = []
  const failures: { readonly error: Error; readonly retryInMs: number }[] = []
  const clock = { uptime: 0 }
  let idle = Promise.withResolvers<void>()
  const isLeader = options.isLeader ?? (() => true)
  const controller = new AssetsController({
    enqueue: (name) => queue.add(name),
    reporter: {
      report: ({ asset, outcome }) => asset === kept && outcomes.push(nameOf(outcome)),
      failed: (_asset, _hco, error, retryInMs) => failures.push({ error, retryInMs }),
      // Told when nothing is left to do.
      pending: () => idle.resolve(),
      reset: () => undefined,
      unavailable: () => undefined,
      settings: () => undefined,
    },
    disruptiveChanges: 'hold',
    isObserver: false,
    isLeader,
    ledger: new Ledger(() => undefined),
    now: Date.now,
    uptime: () => clock.uptime,
    healLimits: { capacity: 1, windowMs: 10_000 },
    ...options,
  })
  const queue = createControllerQueue(controller, isLeader)
  return {
    controller,
    outcomes,
    failures,
    clock,
    stop: () => queue.stop(),
    start: () => controller.evaluate(snapshot),
    look: () => queue.add(healthCheck.name),
    resync() {
      for (const name of controller.resync()) queue.add(name)
    },
    async untilIdle(cause: () => void) {
      idle = Promise.withResolvers()
      cause()
      await idle.promise
    },
  }
}

const nameOf = (outcome: Outcome) => ('reason' in outcome ? outcome.reason : outcome.kind)
