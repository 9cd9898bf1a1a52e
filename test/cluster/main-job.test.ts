import t from 'tap'
import { autopilotCluster, HCO } from './autopilot-fixture.ts'

t.test('the main job', async (t) => {
  const cluster = await autopilotCluster(t)
  const alice = cluster.person('alice')
  const before = performance.now()
  const a = await alice(['patch', 'hyperconverged', '-n', 'openshift-cnv', 'kubevirt-hyperconverged', '--type=merge', '-p', '{"spec":{"virtualization":{"liveMigrationConfig":{"allowPostCopy":true}}}}'])
  t.comment(performance.now()-before)
  t.comment(a)
  t.comment(JSON.stringify(await cluster.read(HCO), null, 1))
  t.comment(await alice(['patch', 'machineconfig', '90-worker-swap-online', '--type=merge', '-p', '{"spec":{"config":{"systemd":{"units":[]}}}}']))
  t.comment(await alice(['get', 'events', '-A']))
  t.comment(await cluster.judged())
  t.comment(cluster.log('reconciler'))
  t.comment(cluster.log('webhook'))
})
