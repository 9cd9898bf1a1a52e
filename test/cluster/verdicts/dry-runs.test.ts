import { basename, dirname } from 'node:path'
import t from 'tap'
import type { RequestInput } from '../../../src/shared/cluster/client.ts'
import { runs } from '../../unit/runs.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import type { Actor } from './writes/actor.ts'
import { plain } from './writes/manifest.ts'
import { healthCheck, hyperConverged, type Subject, swap } from './writes/subjects.ts'
import { verdictCluster } from './writes/verdict-cluster.ts'

const RUNS = runs(200)
const USERS = ['alice', 'bob', 'carol', 'dave', 'erin']
const AT_ONCE = 8
/** How often one user may contest before it is a war. */
const PATIENCE = 5
const MERGE = 'application/merge-patch+json'
const dryRun = 'All'

/** What a tool that looks for differences asks, and the status that it gets: the same each time. */
interface Refresh {
  readonly of: Subject
  readonly status: number
  readonly path: string
  readonly input: (run: number) => RequestInput
}

const minHealthy = (run: number) => ({ spec: { minHealthy: `${run % 50}%` } })

t.test('hundreds of dry runs by several users leave no trace', async (t) => {
  const cluster = await verdictCluster(t)
  const { admin, autopilot, read } = cluster
  const subjects = [healthCheck, swap, hyperConverged]
  for (const subject of subjects) await cluster.fresh(subject)
  const applied = plain(await read(healthCheck.path))
  const apply: RequestInput = {
    method: 'PATCH',
    contentType: 'application/apply-patch+yaml',
    body: { ...applied, ...minHealthy(7) },
    query: { fieldManager: 'argocd-controller', force: true, dryRun },
  }
  const refreshes: readonly Refresh[] = [
    {
      of: healthCheck,
      status: 200,
      path: healthCheck.path,
      input: (run) => ({
        method: 'PATCH',
        contentType: MERGE,
        body: minHealthy(run),
        query: { dryRun },
      }),
    },
    { of: healthCheck, status: 200, path: healthCheck.path, input: () => apply },
    {
      of: healthCheck,
      status: 200,
      path: healthCheck.path,
      input: () => ({ method: 'DELETE', query: { dryRun } }),
    },
    {
      of: swap,
      status: 403,
      path: swap.path,
      input: (run) => ({
        method: 'PATCH',
        contentType: MERGE,
        body: { spec: { config: { systemd: { units: [{ name: `${run}.service` }] } } } },
        query: { dryRun },
      }),
    },
    {
      of: swap,
      status: 403,
      path: dirname(swap.path),
      input: () => ({
        method: 'DELETE',
        query: { dryRun, fieldSelector: `metadata.name=${basename(swap.path)}` },
      }),
    },
  ]
  const isOurs = (line: string) => line.startsWith('virt_platform_') && !line.includes('_seconds')
  const traces = async () => {
    const reply = await fetch(`http://127.0.0.1:${autopilot.opsPorts.webhook}/metrics`)
    const { body } = await admin<Loose>('GET', '/apis/events.k8s.io/v1/events')
    const objects = []
    for (const { path } of subjects) objects.push(await read(path))
    return {
      counters: (await reply.text()).split('\n').filter(isOurs),
      judged: await cluster.metric('webhook', 'virt_platform_admission_duration_seconds_count'),
      events: body.items.map(({ metadata }: Loose) => [metadata.name, metadata.resourceVersion]),
      objects,
    }
  }
  const before = await traces()
  const askedBefore = await cluster.asked()
  const actors = USERS.map((name) => cluster.actor(name))
  let next = 0
  const answers = new Map<string, number>()
  const work = async () => {
    for (let run = next++; run < RUNS; run = next++) {
      // Each of them asks each thing.
      const actor = actors[Math.floor(run / refreshes.length) % actors.length] as Actor
      const { path, input, status } = refreshes[run % refreshes.length] as Refresh
      const told = await actor.send(path, input(run))
      const key = `expected ${status}, got ${told.status}`
      answers.set(key, (answers.get(key) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  t.strictSame(Object.fromEntries([...answers].sort()), {
    'expected 200, got 200': (3 / 5) * RUNS,
    'expected 403, got 403': (2 / 5) * RUNS,
  })
  t.ok((await cluster.asked()) - askedBefore >= RUNS, 'the webhook was asked about all of them')
  t.strictSame(await traces(), before)

  await t.test('nor do they count as contests: each has as many as before', async (t) => {
    for (const actor of [actors[0], cluster.actor('frank')] as Actor[]) {
      const statuses = []
      for (let run = 0; run <= PATIENCE; run++) {
        const body = minHealthy(10 + run)
        const told = await actor.send(healthCheck.path, {
          method: 'PATCH',
          contentType: MERGE,
          body,
        })
        statuses.push(told.status)
      }
      t.strictSame(statuses, [...Array(PATIENCE).fill(200), 403])
    }
  })
})
