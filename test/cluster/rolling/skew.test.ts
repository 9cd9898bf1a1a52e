import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { asLine, audited } from '../harness/audit.ts'
import { isReady } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HEALTH_CHECK } from '../harness/objects.ts'
import { programWith } from '../harness/program.ts'
import { sumOf } from '../harness/readings.ts'
import { until } from '../harness/until.ts'
import { loseNone } from './losses.ts'
import { type Replica, rollingCluster, untilEnded } from './rolling-cluster.ts'

const TEMPLATE = 'active/node-health-standard.yaml.ejs'
const SLOWEST_MS = 90_000

t.test('replicas of two versions judge while 100 writes a second are made', async (t) => {
  const cluster = await rollingCluster(t, { isAudited: true })
  const { restart, read, startReplica, untilAway, untilServing, underLoad, pair } = cluster
  const template = readFileSync(join(import.meta.dirname, '../../../assets', TEMPLATE), 'utf8')
  const newer = programWith(t, {
    change: (catalog) => catalog,
    // An asset is disagreed on as a whole; the field that the load moves has the same value in both.
    files: { [TEMPLATE]: template.replaceAll('300s', '301s') },
  })
  const disagreements = async ({ opsPort }: Replica) => {
    const reply = await fetch(`http://127.0.0.1:${opsPort}/metrics`)
    const name = 'virt_platform_admission_requests_total'
    return sumOf(await reply.text(), name, 'reason="Disagreement"')
  }

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'an old replica judges beside a new one and a new leader, under load',
      outcome:
        'it lets pass what the leader has another opinion of, corrects the rest, and nobody denies the leader anything',
    },
    async (t) => {
      const [, old] = pair
      // Before, its roles may have been too new to be known.
      const since = audited(cluster).length
      await restart('reconciler', { program: newer })
      const conditions = async () => (await read(HEALTH_CHECK)).spec.unhealthyConditions
      await until(
        'the new baseline is there',
        async () =>
          (await conditions()).every(({ duration }: { duration: string }) => duration === '301s'),
        SLOWEST_MS,
      )
      await until('the old one knows', () => knows(old), SLOWEST_MS)
      const young = await startReplica(newer.entry)
      process.kill(pair[0].process.pid, 'SIGTERM')
      await untilAway(pair[0])
      const before = await disagreements(old)
      const { count, failures, failedClosed, failedOpen, excused } = await underLoad(
        async (load) => {
          await load.more(200)
        },
      )
      t.same(failures, [])
      t.equal(failedClosed, 0)
      t.ok(failedOpen <= excused, `${failedOpen} calls lost, ${excused} of them excused`)
      t.ok((await disagreements(old)) > before)
      t.equal(await disagreements(young), 0)
      t.ok(count.corrected > 0 && count.stored > 0)
      const refused = audited(cluster)
        .slice(since)
        .filter(({ responseStatus }) => responseStatus?.code === 403)
      t.same(refused.map(asLine), [])
      t.ok(await isReady(old.opsPort), 'it is ready all the same')

      process.kill(old.process.pid, 'SIGTERM')
      await untilAway(old)
      // Until then they answer on the connections that they have, and still disagree.
      for (const { process } of pair) t.equal(await untilEnded(process), 'exit code 0')
      await startReplica(newer.entry)
      await untilServing(young)
      await loseNone(t, cluster)
    },
  )
})

const knows = async ({ process }: Replica) =>
  process.output().includes('"disagreeing":["node-health-standard"]')
