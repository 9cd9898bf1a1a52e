import { join } from 'node:path'
import t, { type Test } from 'tap'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { createLog } from '../../../src/shared/ops/log.ts'
import { runWebhook } from '../../../src/webhook/baseline/run.ts'
import { PLATFORM_ADMINS } from '../../../tools/control-plane/kubeconfig.ts'
import { autopilotCluster, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HEALTH_CHECK } from '../harness/objects.ts'
import { ownProgram } from '../harness/program.ts'
import { sumOf } from '../harness/readings.ts'
import { until } from '../harness/until.ts'
import { startRival } from '../verdicts/rival.ts'

const MINUTE = 60_000
const USERS = ['probe', 'dora', 'erin', 'frank', 'grace']

t.test('wars that take their time', async (t) => {
  const cluster = await autopilotCluster(t)
  const { autopilot, read } = cluster
  const kubeconfig = join(cluster.dataDir, 'autopilot/kubeconfig-virt-platform-autopilot-webhook')
  const clock = { now: 0 }
  const editAs = async (user: string, patch: object) => {
    const client = await connect(loadKubeconfig(cluster.kubeconfig))
    const headers = { 'impersonate-user': user, 'impersonate-group': PLATFORM_ADMINS }
    const input = {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: patch,
      headers,
    }
    const code = await client.send(HEALTH_CHECK, input).then(
      ({ status }) => status,
      ({ status }) => status,
    )
    await client.close()
    return code
  }

  /** The webhook in this process, in the place of the other, so that its clock is ours. */
  const runHere = async () => {
    await autopilot.webhook.child().kill()
    const end = new AbortController()
    const client = await connect(loadKubeconfig(kubeconfig))
    const running = await runWebhook(
      {
        namespace: NAMESPACE,
        listen: { host: '127.0.0.1', port: autopilot.webhookPort },
        opsListen: { host: '127.0.0.1', port: 0 },
        enforcement: 'correct',
        contestLimits: { capacity: 5, refillMs: 12 * MINUTE, quietMs: 60 * MINUTE },
        certificate: { mode: 'secret' },
        graceMs: 0,
      },
      {
        client,
        catalog: ownProgram().catalog,
        log: createLog('webhook', 'error'),
        signal: end.signal,
        now: () => clock.now,
      },
    )
    const metrics = async () => {
      const reply = await fetch(`http://127.0.0.1:${running.opsPort}/metrics`)
      return reply.text()
    }
    const isReady = () =>
      fetch(`http://127.0.0.1:${running.opsPort}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until('it is ready', isReady, 60_000)
    const stop = async () => {
      end.abort()
      await running.ended
      await client.close()
    }
    return { active: async () => sumOf(await metrics(), 'virt_platform_thrashing_active'), stop }
  }

  await t.test(
    'a slow loop, every few minutes, is found out too, and forgiven in the end',
    async (t) => {
      const webhook = await runHere()
      const codes: number[] = []
      for (let round = 0; round < 12; round++) {
        clock.now += 4 * MINUTE
        codes.push(await editAs('alice', { spec: { minHealthy: '1%' } }))
      }
      const first = codes.indexOf(403)
      t.ok(first >= 5 && first <= 8, codes.join())
      t.same(new Set(codes.slice(first)), new Set([403]), 'it is denied as long as it goes on')
      t.equal(await webhook.active(), 1)
      clock.now += 59 * MINUTE
      t.equal(await webhook.active(), 1)
      clock.now += MINUTE
      t.equal(await webhook.active(), 0, 'an hour without it ends the war')
      t.equal(await editAs('alice', { spec: { minHealthy: '1%' } }), 200)

      clock.now += 5 * 60 * MINUTE
      const rare: number[] = []
      for (let round = 0; round < 12; round++) {
        clock.now += 13 * MINUTE
        rare.push(await editAs('alice', { spec: { minHealthy: '1%' } }))
      }
      t.same(new Set(rare), new Set([200]), 'an edit four times an hour is no war')
      await webhook.stop()
      autopilot.webhook.start()
      const { opsPorts } = autopilot
      await until(
        'the other is ready',
        () =>
          fetch(`http://127.0.0.1:${opsPorts.webhook}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        60_000,
      )
    },
  )

  await t.test('another webhook that sets a field gets nobody denied', async (t) => {
    const labelAs = (user: string, round: number) =>
      editAs(user, { metadata: { labels: { round: String(round) } } })
    const { minHealthy } = (await read(HEALTH_CHECK)).spec
    const start = (t: Test, name: string) =>
      startRival(
        t,
        cluster,
        {
          name,
          users: USERS,
          reinvocationPolicy: 'Never',
          patch: () => [{ op: 'replace', path: '/spec/minHealthy', value: '13%' }],
        },
        () => labelAs('probe', Math.random()),
      )

    await t.test('one that comes after us, however often one innocent user writes', async (t) => {
      const { leave } = await start(t, 'zz-rival')
      const codes: number[] = []
      for (let round = 0; round < 8; round++) codes.push(await labelAs('dora', round))
      t.same(new Set(codes), new Set([200]))
      t.equal((await read(HEALTH_CHECK)).spec.minHealthy, minHealthy)
      t.equal(
        (await cluster.events('ThrashingDetected')).filter(({ note }) => /dora/.test(note)).length,
        0,
      )
      await leave()
    })

    await t.test(
      'one that comes before us, once three users are seen to do the same',
      async (t) => {
        const { leave } = await start(t, 'aa-rival')
        const codes: number[] = []
        for (let round = 0; round < 12; round++)
          codes.push(await labelAs(['erin', 'frank', 'grace'][round % 3] ?? '', round))
        t.same(new Set(codes), new Set([200]))
        const { note } = await cluster.untilEvent(
          'ThrashingDetected',
          /probably another admission webhook or a client's default/,
        )
        t.match(note, /\/spec\/minHealthy is set to "13%" by several users/)
        t.equal((await read(HEALTH_CHECK)).spec.minHealthy, minHealthy)
        await leave()
      },
    )
  })
})
