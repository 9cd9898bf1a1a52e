import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import {
  type AutopilotCluster,
  type AutopilotClusterOptions,
  autopilotCluster,
  isReady,
  type Loose,
  NAMESPACE,
} from '../harness/autopilot-fixture.ts'
import { type Calls, callsOf } from '../harness/calls.ts'
import type { Scope } from '../harness/fixture.ts'
import { HEALTH_CHECK } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { type BadWebhook, type Manner, startBadWebhook } from './bad-webhook.ts'
import { makeDefaultAccount, writeForeign } from './foreign-writes.ts'
import { selectedBy } from './selected.ts'

/** What becomes of a write to a managed object. */
export type Fate = 'judged' | 'unjudged' | 'refused' | 'half judged'

/** What a test asserts with: tap's `t`. */
interface Asserts {
  equal(found: unknown, wanted: unknown, ...message: [] | [string]): boolean
  same(found: unknown, wanted: unknown, ...message: [] | [string]): boolean
  match(found: unknown, wanted: unknown, ...message: [] | [string]): boolean
  comment(line: string): void
}

/** A cluster whose webhook is to break. */
export interface BrickableCluster extends AutopilotCluster {
  /** Waits until this is what becomes of a write to a managed object; the API server learns of a change late. */
  readonly untilFate: (fate: Fate) => Promise<void>
  /** What the API server counts of its calls to our webhooks, by series. */
  readonly counted: () => Promise<Calls['series']>
  /** What VirtPlatformAdmissionErrors adds up, of the mutating entry and of the validating one. */
  readonly alarming: () => Promise<readonly number[]>
  /** Proves that every write that is none of ours goes through, and that nobody is asked about one. */
  readonly spare: (t: Asserts) => Promise<void>
  /**
   * Edits a managed object as nobody else did before, and proves that the edit is stored unjudged, and that the API
   * server counts both of its calls where an alert looks; gives the value.
   */
  readonly pass: (t: Asserts) => Promise<string>
  /** Waits until the edit of minHealthy is healed, and told with its value. */
  readonly untilHealed: (minHealthy: string) => Promise<void>
  /** Does something while a server of this manner is in the place of the webhook, which was killed. */
  readonly withBad: (manner: Manner, work: (bad: BadWebhook) => Promise<unknown>) => Promise<void>
  /** A test that nothing but managed objects meets a webhook of this manner, and that these are healed. */
  readonly inTheManner: (manner: Manner) => (t: Asserts) => Promise<void>
  /** Starts the webhook that was killed, and waits until it judges again. */
  readonly mend: () => Promise<void>
}

const MERGE = 'application/merge-patch+json'
const LONG_MS = 120_000

/** Changes what the objects' owners would not want, as the cluster's administrator. */
export const editOf = (minHealthy: string) => ({ spec: { minHealthy } })

/** Starts both processes on a cluster whose webhook is to break. */
export async function brickableCluster(
  t: Scope,
  options: AutopilotClusterOptions = {},
): Promise<BrickableCluster> {
  const cluster = await autopilotCluster(t, options)
  const { admin, autopilot, read, events } = cluster
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  if (!options.controllerManager) await makeDefaultAccount(client)
  const scrape = async () => (await admin<string>('GET', '/metrics')).body
  const fate = async (): Promise<Fate> => {
    const edit = editOf('13%')
    const { status, body } = await admin<Loose>('PATCH', `${HEALTH_CHECK}?dryRun=All`, edit, MERGE)
    if (status === 200) return body.spec.minHealthy === '13%' ? 'unjudged' : 'judged'
    if (/failed calling webhook/.test(body.message)) return 'refused'
    // The API server learns of the two configurations one after the other.
    if (/did not last/.test(body.message)) return 'half judged'
    throw new Error(`a dry run was answered ${status}: ${body.message}`)
  }
  const untilFate = async (wanted: Fate) => {
    await until(`writes are ${wanted}`, async () => (await fate()) === wanted, LONG_MS)
  }
  const counted = async () => (await callsOf(cluster)).series
  const alarming = async () => {
    const series = [...selectedBy('VirtPlatformAdmissionErrors', await scrape())]
    return ['mutate', 'validate'].map((entry) => {
      const ofEntry = series.filter(([labels]) => labels.includes(`name="${entry}.`))
      return ofEntry.reduce((sum, [, value]) => sum + value, 0)
    })
  }
  let round = 0
  const inPlace = {
    counted,
    alarming,
    async spare(t: Asserts) {
      const before = await counted()
      const { refused, slowestMs } = await writeForeign(client, `foreign-${round++}`)
      t.same(refused, [], 'what is none of ours goes through')
      t.same(await counted(), before, 'and nobody was asked about it')
      t.comment(`the slowest of these writes took ${slowestMs} ms`)
    },
    async pass(t: Asserts) {
      // No value twice: an event that tells of it is then of this edit.
      const value = `${20 + (round++ % 30)}%`
      const before = await alarming()
      const since = performance.now()
      const { status, body } = await admin('PATCH', HEALTH_CHECK, editOf(value), MERGE)
      t.comment(`the edit took ${Math.round(performance.now() - since)} ms`)
      t.equal(status, 200)
      t.match(body, editOf(value), 'the edit is stored')
      const growth = (await alarming()).map((count, entry) => count - (before[entry] ?? 0))
      t.same(growth, [1, 1], 'and the API server counts both calls where the alert looks')
      return value
    },
    async untilHealed(minHealthy: string) {
      await until(
        'it is healed',
        async () => (await read(HEALTH_CHECK))?.spec.minHealthy === '51%',
        LONG_MS,
      )
      const isTold = ({ note }: { note: string }) => note.includes(minHealthy)
      await until('it is told', async () => (await events('DriftCorrected')).some(isTold), LONG_MS)
    },
    async withBad(manner: Manner, work: (bad: BadWebhook) => Promise<unknown>) {
      const { data } = await read(`/api/v1/namespaces/${NAMESPACE}/secrets/${SERVING}`)
      const [key, cert] = ['tls.key', 'tls.crt'].map((name) => atob(data[name]))
      const place = { port: autopilot.webhookPort, key: key ?? '', cert: cert ?? '' }
      const bad = await startBadWebhook(manner, place)
      try {
        await work(bad)
      } finally {
        await bad.stop()
      }
    },
  }
  const mend = async () => {
    autopilot.webhook.start()
    await until('the webhook is ready', () => isReady(autopilot.opsPorts.webhook), LONG_MS)
    await untilFate('judged')
  }
  return Object.assign(cluster, inPlace, {
    untilFate,
    mend,
    inTheManner: (manner: Manner) => async (t: Asserts) => {
      await autopilot.webhook.child().kill()
      await inPlace.withBad(manner, async ({ asked, connections }) => {
        await inPlace.spare(t)
        await inPlace.untilHealed(await inPlace.pass(t))
        t.equal(connections() > 0, true, 'it was there')
        t.same(
          asked.filter((name) => name !== 'virt-node-health-check'),
          [],
        )
      })
      await mend()
    },
  })
}

const SERVING = 'virt-platform-autopilot-webhook-tls'
