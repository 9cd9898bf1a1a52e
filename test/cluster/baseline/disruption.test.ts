import t from 'tap'
import { autopilotCluster, isReady, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, KUBELET, PCI, SWAP } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const POOL = ['machineconfigpool', 'worker']

t.test('changes that reboot nodes, on hold', async (t) => {
  const cluster = await autopilotCluster(t, {
    isEarly: true,
    reconcilerFlags: ['--disruptive-changes=hold', '--resync=500ms'],
  })
  const { read, untilEvent, untilCompared, metric } = cluster
  const alice = cluster.person('alice')
  const pending = () => metric('reconciler', 'virt_platform_pending_disruption')
  const command = ({ note }: { note: string }) => note.slice(note.indexOf('kubectl annotate'))
  const cpuManagerOf = ({ spec }: Loose) => spec.kubeletConfig.cpuManagerPolicy

  await t.test('they wait, are told as one set, and hold up nothing else', async (t) => {
    const { note, regarding } = await untilEvent('DisruptionPending', /(.*reboots 3 nodes.*){3}/)
    t.equal(regarding.name, 'kubevirt-hyperconverged')
    for (const name of ['90-worker-swap-online', '50-virt-pci-passthrough', 'virt-perf-settings'])
      t.match(note, new RegExp(`${name} reboots 3 nodes of pool worker`))
    t.match(
      command({ note }),
      /^kubectl annotate hyperconverged -n openshift-cnv kubevirt-hyperconverged --overwrite platform\.kubevirt\.io\/approve=[0-9a-f]+$/,
    )
    await until('the others are there', () => read(HEALTH_CHECK))
    t.same(await Promise.all([SWAP, PCI, KUBELET].map(read)), [undefined, undefined, undefined])
    t.equal(await pending(), 3)
  })

  await t.test('a digest that is not theirs approves nothing', async (t) => {
    const approve = 'platform.kubevirt.io/approve=0123456789ab'
    t.match(await alice(['annotate', ...HYPERCONVERGED, '--overwrite', approve]), { code: 0 })
    await untilCompared('90-worker-swap-online')
    t.same(await Promise.all([SWAP, PCI, KUBELET].map(read)), [undefined, undefined, undefined])
    const { note, regarding } = await untilEvent('InvalidSetting', /"0123456789ab"/)
    t.equal(regarding.name, 'kubevirt-hyperconverged')
    const { note: waiting } = await untilEvent('DisruptionPending', /(.*reboots 3 nodes.*){3}/)
    const told = `approves nothing: the set that waits is another. To approve that: ${command({ note: waiting })}`
    t.equal(note, `platform.kubevirt.io/approve "0123456789ab" ${told}`)
  })

  await t.test('the command of the event applies all of them', async (t) => {
    const event = await untilEvent('DisruptionPending', /(.*reboots 3 nodes.*){3}/)
    t.match(await alice.shell(command(event)), { code: 0 })
    for (const path of [SWAP, PCI, KUBELET]) await until(`${path} is there`, () => read(path))
    await until('nothing waits', async () => (await pending()) === 0)
    const told = await cluster.events('InvalidSetting')
    t.equal(told.length, 1, 'of a digest that approved something nothing is told')
  })

  await t.test('putting back what is in force never waits', async (t) => {
    await until('the webhook is ready', () => isReady(cluster.autopilot.opsPorts.webhook))
    await cluster.withoutWebhook(async () => {
      const edit = '{"spec":{"config":{"systemd":{"units":[]}}}}'
      const args = ['patch', 'machineconfig', '90-worker-swap-online', '--type=merge', `-p${edit}`]
      t.match(await alice(args), { code: 0 })
      await until('the edit is healed', async () => {
        return (await read(SWAP)).spec.config.systemd.units.length > 0
      })
      t.match(await alice(['delete', 'machineconfig', '90-worker-swap-online']), { code: 0 })
      await until('what was deleted is back', () => read(SWAP))
    })
  })

  await t.test('a new change waits, whatever was approved before', async (t) => {
    const asked = 'platform.kubevirt.io/enable-cpu-manager=true'
    t.match(await alice(['annotate', ...HYPERCONVERGED, asked]), { code: 0 })
    const event = await untilEvent(
      'DisruptionPending',
      /^[^;]*virt-perf-settings reboots.*cpuManagerPolicy/,
    )
    await untilCompared('virt-perf-settings')
    t.equal(cpuManagerOf(await read(KUBELET)), undefined)
    t.equal(await pending(), 1)
    t.not((await read(HCO)).metadata.annotations['platform.kubevirt.io/approve'], undefined)

    const pause = (paused: boolean) =>
      alice(['patch', ...POOL, '--type=merge', `-p${JSON.stringify({ spec: { paused } })}`])
    t.match(await pause(true), { code: 0 })
    // Pools and the HyperConverged are watched apart: an approval that is heard of first would be acted on.
    await untilCompared('virt-perf-settings')
    t.match(await alice.shell(command(event)), { code: 0 })
    await untilCompared('virt-perf-settings')
    t.equal(cpuManagerOf(await read(KUBELET)), undefined, 'approved, but its pool is paused')

    t.match(await pause(false), { code: 0 })
    await until('it is made', async () => cpuManagerOf(await read(KUBELET)) === 'static')
    await until('nothing waits', async () => (await pending()) === 0)
  })
})
