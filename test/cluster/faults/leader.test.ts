import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { type Leashed, spawnLeashed } from '../../../tools/control-plane/processes.ts'
import { autopilotCluster, ENTRY, isReady, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK } from '../harness/objects.ts'
import { sumOf } from '../harness/readings.ts'
import { PATIENCE_S } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/virt-platform-autopilot.kubevirt.io`
const CHECK = ['nodehealthcheck', 'virt-node-health-check']

t.test('leadership', async (t) => {
  const cluster = await autopilotCluster(t, { isOwn: true })
  const { autopilot, read } = cluster
  const { reconciler } = autopilot
  const alice = cluster.person('alice')
  const folder = join(cluster.dataDir, 'autopilot')
  const port = await freePort()
  const spawn = (name: string, ...flags: readonly string[]) =>
    spawnLeashed({
      name,
      file: process.execPath,
      args: [
        ENTRY,
        'reconciler',
        `--kubeconfig=${join(folder, 'kubeconfig-virt-platform-autopilot-reconciler')}`,
        `--namespace=${NAMESPACE}`,
        `--ops-listen=127.0.0.1:${port}`,
        `--webhook-url=${autopilot.webhookUrl}`,
        '--disruptive-changes=apply',
        `--webhook-timeout=${PATIENCE_S}`,
        ...flags,
      ],
      cwd: folder,
      env: {},
      logFile: join(folder, `${name}.log`),
    })

  const untilRefused = async (process: Leashed) => {
    t.teardown(() => process.kill())
    await until(`${process.name} ends`, async () => !process.isRunning(), 60_000)
    t.equal(await process.ended, 'exit code 1')
    return process.output().trim().split('\n').at(-1)
  }

  await t.test('one that the webhook would not trust refuses to lead', async (t) => {
    const distrusted = spawn('distrusted', '--no-leader-elect', '--trusted-user=gitops')
    t.match(
      await untilRefused(distrusted),
      /^virt-platform-autopilot: the webhook is to trust gitops, and this is system:serviceaccount:.*--trusted-user$/,
    )
  })

  await t.test('beside another autopilot none leads', async (t) => {
    const create = ['create', 'deployment', '-n', NAMESPACE, 'virt-platform-autopilot', '--image=a']
    t.match(await alice(create), { code: 0 })
    const message = await untilRefused(spawn('beside', '--no-leader-elect'))
    t.match(
      message,
      / is another autopilot's: install this one into another namespace, .*: kubectl delete deployment /,
    )
    t.match(await alice.shell(message?.slice(message.indexOf('kubectl')) ?? ''), { code: 0 })
  })

  const second = spawn('second')
  t.teardown(() => second.kill())
  const leads = async (opsPort: number) => {
    const reply = await fetch(`http://127.0.0.1:${opsPort}/metrics`).catch(() => undefined)
    return reply ? sumOf(await reply.text(), 'virt_platform_leader') === 1 : false
  }
  const holder = async () => (await read(LEASE)).spec.holderIdentity
  const deleteCheck = async () => {
    await alice(['delete', ...CHECK])
    const since = performance.now()
    await until('what was deleted is back', () => read(HEALTH_CHECK), 60_000)
    return Math.round(performance.now() - since)
  }

  await t.test('of two reconcilers one writes, and both are ready', async (t) => {
    await until('the second is ready', () => isReady(port), 60_000)
    t.ok(await leads(autopilot.opsPorts.reconciler))
    t.notOk(await leads(port))
    await deleteCheck()
    t.notMatch(second.output(), /"msg":"(created|adopted|drift corrected)"/)
  })

  await t.test('a leader that is asked to end hands over at once', async (t) => {
    const before = await holder()
    const since = performance.now()
    await reconciler.stop()
    t.equal(await reconciler.child().ended, 'exit code 0')
    // It looks every two seconds. What nobody releases is its after 15 s.
    await until('the other leads', () => leads(port), 12_000)
    t.comment(`handed over in ${Math.round(performance.now() - since)} ms`)
    t.not(await holder(), before)
    await deleteCheck()
  })

  await t.test('a leader that dies is followed by the other', async (t) => {
    reconciler.start()
    await until('the first is ready again', () => isReady(autopilot.opsPorts.reconciler), 60_000)
    await second.kill()
    const healed = await deleteCheck()
    t.comment(`followed, and healed, ${healed} ms after it was killed`)
    t.ok(await leads(autopilot.opsPorts.reconciler))
  })

  await t.test('the last one releases the Lease when it ends', async (t) => {
    await reconciler.stop()
    t.equal(await holder(), '')
  })

  await t.test('whoever only looks goes on from what the last leader published', async (t) => {
    const annotate = async (text: string | null) => {
      const annotations = { 'platform.kubevirt.io/disruptive-changes': text }
      const patch = { metadata: { annotations } }
      return cluster.admin('PATCH', HCO, patch, 'application/merge-patch+json')
    }
    t.match(await cluster.withoutWebhook(() => annotate('perhaps')), { status: 200 })
    const observer = spawn('observer', '--observe')
    t.teardown(() => observer.kill())
    const isToldOf = async () => observer.output().includes('it counts as absent, as before')
    await until('the setting that was valid last counts', isToldOf, 60_000)
    t.equal(await holder(), '')
    await observer.kill()
    t.match(await annotate(null), { status: 200 })
  })

  await t.test('without an election one leads without the Lease, and says so', async (t) => {
    const alone = spawn('alone', '--no-leader-elect')
    t.teardown(() => alone.kill())
    await until('it leads', () => leads(port), 60_000)
    await deleteCheck()
    t.equal(await holder(), '')
    await alone.kill()
  })

  await t.test('started without an API server, it waits, says so once, and goes on', async (t) => {
    const { uid } = (await read(HCO)).metadata
    await cluster.stopApiServer()
    reconciler.start()
    const { logFile } = reconciler.child()
    const waits = () =>
      reconciler
        .child()
        .output()
        .split('\n')
        .filter((line) => line.includes('waiting for the API server'))
    await until('it says so', async () => waits().length > 0, 60_000)
    t.match(waits()[0], new RegExp(`"level":40.*${new URL(cluster.url).host}`))
    await cluster.startApiServer()
    await until('it leads', () => leads(autopilot.opsPorts.reconciler), 60_000)
    await deleteCheck()
    t.equal(waits().length, 1, readFileSync(logFile, 'utf8'))
    t.equal((await read(HCO)).metadata.uid, uid)
  })
})
