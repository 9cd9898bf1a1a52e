import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { spawnLeashed } from '../../../tools/control-plane/processes.ts'
import { asLine, audited, isWrite } from '../harness/audit.ts'
import { ENTRY, isReady, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import type { Passed } from '../harness/network/proxy.ts'
import { HCO, HEALTH_CHECK, KUBELET, METALLB } from '../harness/objects.ts'
import { environmentOf } from '../harness/program.ts'
import { sumOf } from '../harness/readings.ts'
import { PATIENCE_S } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'
import { faultyCluster, HEAL } from './faulty-cluster.ts'

const PATCH_OF_CHECK = ({ method, path, account }: Passed) =>
  account === 'reconciler' && method === 'PATCH' && path === HEALTH_CHECK
const isDryRun = (one: Passed) => PATCH_OF_CHECK(one) && one.isDryRun
const isApply = (one: Passed) => PATCH_OF_CHECK(one) && !one.isDryRun

t.test('what happens to the processes themselves', async (t) => {
  const cluster = await faultyCluster(t, { reconcilerFlags: ['--resync=1h'] })
  const { autopilot, proxy, edit, survive, untilHealed, mark, complaints, log } = cluster
  const { reconciler, webhook, webhookUrl } = autopilot
  const folder = join(cluster.dataDir, 'autopilot')
  const leads = async (opsPort: number) => {
    const reply = await fetch(`http://127.0.0.1:${opsPort}/metrics`).catch(() => undefined)
    return reply ? sumOf(await reply.text(), 'virt_platform_leader') === 1 : false
  }
  await webhook.child().kill()

  await faultTest(
    t,
    {
      part: 'reconciler',
      fault: 'it is killed between dry run and apply',
      outcome: 'the next leader does the rest, once',
    },
    async (t) => {
      const before = proxy.passed.length
      const work = async () => {
        const held = proxy.hold(isApply, 'request')
        await edit()
        await held.reached
        await reconciler.child().kill()
        held.drop()
        reconciler.start()
        await untilHealed()
        await until('it leads', () => leads(autopilot.opsPorts.reconciler), 90_000)
      }
      await survive(t, work, [HEAL])
      const applies = proxy.passed.slice(before).filter(PATCH_OF_CHECK)
      t.same(
        applies.map(({ isDryRun, status }) => [isDryRun, status]),
        [
          [true, 200],
          [false, undefined],
          [true, 200],
          [false, 200],
        ],
        'the apply of the first was never forwarded',
      )
    },
  )

  const port = await freePort()
  const startSecond = () => {
    const second = spawnLeashed({
      name: 'second',
      file: process.execPath,
      args: [
        ENTRY,
        'reconciler',
        `--kubeconfig=${directKubeconfig(folder, cluster)}`,
        `--namespace=${NAMESPACE}`,
        `--ops-listen=127.0.0.1:${port}`,
        `--webhook-url=${webhookUrl}`,
        '--disruptive-changes=apply',
        `--webhook-timeout=${PATIENCE_S}`,
        '--resync=1h',
      ],
      cwd: folder,
      env: environmentOf(ENTRY),
      logFile: join(folder, 'second.log'),
    })
    t.teardown(() => second.kill())
    return second
  }

  const frozen = (what: 'dry run' | 'apply') => async (t: Test) => {
    const second = startSecond()
    await until('the second is ready', () => isReady(port), 90_000)
    const { pid } = reconciler.child()
    t.teardown(() => process.kill(pid, 'SIGCONT'))
    const since = mark()
    const before = proxy.passed.length
    const ofFirst = () => new Set(proxy.passed.slice(before).map(({ auditId }) => auditId))
    const work = async () => {
      const held =
        what === 'apply' ? proxy.hold(isApply, 'request') : proxy.hold(isDryRun, 'answer')
      await edit()
      await held.reached
      process.kill(pid, 'SIGSTOP')
      await until('the other leads', () => leads(port), 90_000)
      await untilHealed()
      held.release()
      if (what === 'apply')
        await until('it is refused', async () => proxy.passed.findLast(isApply)?.status === 409)
      process.kill(pid, 'SIGCONT')
      await until('it knows', async () => log('reconciler').slice(since).includes('no longer'))
      await until('it leads no more', async () => !(await leads(autopilot.opsPorts.reconciler)))
    }
    const writes = audited(cluster).filter(isWrite).length
    await survive(t, work, [HEAL])
    const ids = ofFirst()
    const itsWrites = audited(cluster)
      .filter(isWrite)
      .slice(writes)
      .filter(({ auditID }) => ids.has(auditID))
    t.same(itsWrites.map(asLine), [], 'the thawed one wrote nothing')
    // An attempt to renew the Lease that it froze in is over when it thaws.
    const isLate = (line: string) => /^leader election .*: no answer within \d+ ms$/.test(line)
    const [loss = '', ...more] = complaints(since).filter((line) => !isLate(line))
    t.match(
      loss,
      /^no longer the leader: writing nothing: (another process holds it|it could not be renewed in time)$/,
    )
    t.same(more, [], 'and that is all it says')
    process.kill(second.pid, 'SIGTERM')
    await second.ended
    await until('the first leads again', () => leads(autopilot.opsPorts.reconciler), 90_000)
  }
  await faultTest(
    t,
    {
      part: 'reconciler',
      fault: 'the leader freezes before the answer of its dry run, and thaws when another leads',
      outcome: 'it writes nothing',
    },
    frozen('dry run'),
  )
  await faultTest(
    t,
    {
      part: 'reconciler',
      fault: 'the leader freezes before its apply, and thaws when another leads',
      outcome: 'the apply is refused as too old, and it writes nothing more',
    },
    frozen('apply'),
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'the only replica is killed under load',
      outcome: 'no write fails: failurePolicy lets it pass, and the reconciler heals it',
    },
    async (t) => {
      webhook.start()
      await until('the webhook is ready', () => isReady(autopilot.opsPorts.webhook), 90_000)
      await untilAsked()
      const answers: string[] = []
      const label = async (path: string, value: string | null) => {
        const body = { metadata: { labels: { 'example.com/load': value } } }
        const answer = await cluster.admin('PATCH', path, body, MERGE)
        answers.push(answer.status === 200 ? '200' : JSON.stringify(answer.body))
      }
      /** Five writes a second to one object, until enough came after the webhook was killed. */
      const write = async (path: string) => {
        for (let n = 0; n < LOAD.writes; n++) {
          await Promise.all([label(path, `${n}`), sleep(LOAD.everyMs)])
          if (n === LOAD.killAt && path === HCO) await webhook.child().kill()
        }
        await label(path, null)
      }
      const work = async () => {
        await Promise.all([HCO, HEALTH_CHECK, METALLB, KUBELET].map(write))
        t.notOk(webhook.child().isRunning())
        await edit()
        webhook.start()
        await untilHealed()
        await untilAsked()
      }
      const asked = await cluster.asked()
      await survive(t, work, [HEAL])
      t.ok((await cluster.asked()) > asked, 'the webhook was asked')
      t.same([...new Set(answers)], ['200'])
    },
  )

  /** Waits until the API server asks the webhook again: after a failure it may not do so at once. */
  async function untilAsked() {
    const dryRun = `${HEALTH_CHECK}?dryRun=All`
    const wrong = {
      metadata: { annotations: { 'platform.kubevirt.io/mode': 'is anybody there?' } },
    }
    await until(
      'a wrong annotation is refused',
      async () => {
        const { status } = await cluster.admin('PATCH', dryRun, wrong, MERGE)
        return status === 403
      },
      90_000,
    )
  }
})

// Of each of four writers: 20 writes a second together; this pace is the load itself.
const LOAD = { writes: 20, everyMs: 200, killAt: 8 }
const MERGE = 'application/merge-patch+json'

/** The first one's token, but not its way through the proxy: so whatever passes the proxy is of the first. */
function directKubeconfig(folder: string, { url, ca }: { url: string; ca: string }): string {
  const through = join(folder, 'kubeconfig-virt-platform-autopilot-reconciler')
  const config = JSON.parse(readFileSync(through, 'utf8'))
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  const file = join(folder, 'kubeconfig-second')
  const text = JSON.stringify({ ...config, clusters: [{ name: 'cluster', cluster }] })
  writeFileSync(file, text, { mode: 0o600 })
  return file
}
