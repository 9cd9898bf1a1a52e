import t from 'tap'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, METALLB, MUTATING } from '../harness/objects.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'

const MERGE = 'application/merge-patch+json'

t.test('status says how every asset is doing', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=1s'] })
  const { admin, withoutWebhook, restart } = cluster
  const alice = cluster.person('alice')
  const user = { name: 'alice', groups: ['platform-admins'] }
  const options = [`--kubeconfig=${cluster.kubeconfigFor(user)}`, `--namespace=${NAMESPACE}`]
  const status = (...flags: readonly string[]) => run(['status', ...options, ...flags])
  const rows = async () => {
    const { code, stdout, stderr } = await status('-o', 'json')
    t.match(String(code), /[012]/, stderr)
    const { parts, assets } = JSON.parse(stdout)
    const byName: Loose = Object.fromEntries(
      [...parts, ...assets].map((row: Loose) => [row.name, row]),
    )
    return { code, byName }
  }
  const annotate = async (target: readonly string[], pair: string) =>
    t.match(await alice(['annotate', ...target, '--overwrite', `platform.kubevirt.io/${pair}`]), {
      code: 0,
    })
  const untilWell = () => until('all is well', async () => (await status()).code === 0)

  await t.test('all is well', async (t) => {
    await untilWell()
    const { stdout } = await status()
    const lines = stdout.trimEnd().split('\n')
    t.match(lines.slice(0, 4), [
      /^NAME +HEALTH/,
      /^settings +ok/,
      /^reconciler +ok/,
      /^webhook +ok/,
    ])
    t.match(stdout, /^metallb +ok +InSync /m)
    t.match((await status('-o', 'wide')).stdout, /MetalLB metallb-system\/metallb/)
  })

  await t.test('what drifted while nobody heals', async (t) => {
    await restart('reconciler', {
      meanwhile: () =>
        withoutWebhook(async () => {
          await admin('PATCH', HEALTH_CHECK, { spec: { minHealthy: '9%' } }, MERGE)
          await admin('DELETE', METALLB)
          const { code, byName } = await rows()
          t.equal(code, 1)
          t.match(byName['node-health-standard'], {
            state: 'Drifted',
            health: 'wrong',
            why: /minHealthy/,
          })
          t.match(byName.metallb, { state: 'Missing', health: 'wrong' })
        }),
    })
    await untilWell()
  })

  await t.test('overrides, valid and not, and who paused', async (t) => {
    const check = ['nodehealthcheck', 'virt-node-health-check']
    await annotate(check, 'reconcile-paused=true')
    t.match((await rows()).byName['node-health-standard'], { state: 'Paused', health: 'ok' })
    await annotate(check, 'reconcile-paused-')
    await withoutWebhook(async () => {
      await annotate(check, 'patch=[]x')
      const { code, byName } = await rows()
      t.equal(code, 1)
      t.match(byName['node-health-standard'], { state: 'Held', health: 'wrong', todo: /mend/ })
      await annotate(check, 'patch-')
      const pause = ['annotate', ...check, 'platform.kubevirt.io/reconcile-paused=true']
      await alice([...pause, '--field-manager=virt-platform-autopilot-pause'])
      const paused = (await rows()).byName['node-health-standard']
      t.match(paused, { state: 'Paused', health: 'wrong', todo: /end the quarrel, then: kubectl/ })
      t.match(await alice.shell(paused.todo.replace(/^.*: /, '')), { code: 0 })
    })
    await untilWell()
  })

  await t.test('an invalid setting, and a webhook that nobody asks', async (t) => {
    await withoutWebhook(async () => {
      await annotate(HYPERCONVERGED, 'disruptive-changes=maybe')
      const { code, byName } = await rows()
      t.equal(code, 1)
      t.match(byName.settings, { state: 'Invalid', why: /maybe/ })
      await annotate(HYPERCONVERGED, 'disruptive-changes-')
    })
    await untilWell()
    await admin('DELETE', MUTATING)
    const { code, byName } = await rows()
    t.equal(code, 1)
    t.match(byName.webhook, { state: 'NotRegistered', why: /MutatingWebhookConfiguration/ })
  })

  await t.test('what cannot be told', async (t) => {
    t.match(await run(['status', '--kubeconfig=/none']), { code: 2, stdout: '', stderr: /\/none/ })
    const nobody = cluster.kubeconfigFor({ name: 'nobody', groups: [] })
    const said = await run(['status', `--kubeconfig=${nobody}`, `--namespace=${NAMESPACE}`])
    t.match(said, { code: 2, stdout: '', stderr: /403/ })
    await admin('DELETE', HCO)
    t.match(await status(), { code: 2, stderr: /there is no HyperConverged/ })
  })
})
