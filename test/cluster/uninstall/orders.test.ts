import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { spawnLeashed } from '../../../tools/control-plane/processes.ts'
import type { Autopilot } from '../../../tools/dev/autopilot.ts'
import { ENTRY, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { callsOf } from '../harness/calls.ts'
import { faultTest } from '../harness/fault.ts'
import { HCO } from '../harness/objects.ts'
import { environmentOf } from '../harness/program.ts'
import { PATIENCE_S } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'
import { INSTALLED, OUR_NAMESPACE, REGISTERED, readFrom, SERVICE, WITHIN_MS } from './uninstall.ts'
import { uninstalling } from './uninstalling.ts'

t.test('uninstalling in any order', async (t) => {
  const { cluster, uninstalled, remove, untilGone } = await uninstalling(t)
  const { admin } = cluster
  const merge = 'application/merge-patch+json'

  /** Another reconciler in the place of the first, which registers the webhook by its Service. */
  const leadByService = async (t: Test, { reconciler }: Autopilot) => {
    await reconciler.stop()
    const folder = dirname(reconciler.child().logFile)
    const leader = spawnLeashed({
      name: 'by-service',
      file: process.execPath,
      args: [
        ENTRY,
        'reconciler',
        `--kubeconfig=${join(folder, 'kubeconfig-virt-platform-autopilot-reconciler')}`,
        `--namespace=${NAMESPACE}`,
        `--ops-listen=127.0.0.1:${await freePort()}`,
        '--disruptive-changes=apply',
        `--webhook-timeout=${PATIENCE_S}`,
      ],
      cwd: folder,
      env: environmentOf(ENTRY),
      logFile: join(folder, 'by-service.log'),
    })
    t.teardown(() => leader.kill())
    for (const path of REGISTERED)
      await until(
        'it is registered by its Service',
        async () => {
          const [{ clientConfig }] = (await readFrom(cluster, path)).webhooks
          return clientConfig.service?.name === SERVICE.metadata.name
        },
        WITHIN_MS,
      )
    return leader
  }

  /** Waits until the API server knows where to call, calls in vain, and stores the write all the same. */
  const untilFailedOpen = async (value: string | null) => {
    const before = (await callsOf(cluster)).failedOpen
    const label = { metadata: { labels: { 'example.com/team': value } } }
    await until(
      'a write passes unjudged',
      async () => {
        const { status, body } = await admin('PATCH', HCO, label, merge)
        if (status !== 200) throw new Error(`it was answered ${status}: ${JSON.stringify(body)}`)
        return (await callsOf(cluster)).failedOpen > before
      },
      WITHIN_MS,
    )
  }

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the processes go first',
      outcome: 'all of ours goes, all that is managed stays as it is and is free to be changed',
    },
    uninstalled('processes-first', async (_, autopilot) => {
      await autopilot.stop()
      await remove(INSTALLED)
    }),
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the Service goes first, and nobody answered there before either',
      outcome: 'the same, and the API server lets writes pass before and after',
    },
    uninstalled('service-first', async (t, autopilot) => {
      const leader = await leadByService(t, autopilot)
      await untilFailedOpen('a')
      await remove([SERVICE])
      await untilGone(`${OUR_NAMESPACE}/services/${SERVICE.metadata.name}`)
      await untilFailedOpen(null)
      await remove(INSTALLED)
      for (const path of REGISTERED) await untilGone(path)
      t.ok(leader.isRunning())
      await autopilot.stop()
      await leader.kill()
    }),
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'everything goes at once',
      outcome: 'nothing of ours is left, and all that is managed stays',
    },
    uninstalled('at-once', (_, autopilot) => Promise.all([remove(INSTALLED), autopilot.stop()])),
  )
})
