import t from 'tap'
import { keptObjects } from '../../e2e/kept.ts'
import { cleanUp } from '../../e2e/platform.ts'
import { openRehearsal } from '../../e2e/rehearsal.ts'
import { SCENARIO } from '../../e2e/scenario.ts'
import { asLine, auditedOfAll } from '../harness/audit.ts'
import { embeddedSite } from './embedded-site.ts'
import { grantedRights, usedRights } from './rights.ts'

const GIVEN_ON = 'whoever writes a role must have what it grants: virt-platform-node-maintenance'
const PRUNED =
  'only what a cluster has outgrown is deleted: test/cluster/baseline/conditions.test.ts'

/** What is granted and never done here, and why it must be granted all the same. */
const UNUSED: Readonly<Record<string, string>> = Object.fromEntries([
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'].map((verb) => [
    `reconciler: ${verb} nodemaintenances.nodemaintenance.medik8s.io`,
    GIVEN_ON,
  ]),
  ['reconciler: get nodes', GIVEN_ON],
  ...['get', 'patch'].map((verb) => [
    `reconciler: ${verb} fenceagentsremediationtemplates.fence-agents-remediation.medik8s.io`,
    'only where an admin has made one and asks for fencing: test/cluster/baseline/fencing.test.ts',
  ]),
  ...['list', 'watch'].map((verb) => [
    `reconciler: ${verb} machineconfigurations.operator.openshift.io`,
    'only where it is served: test/cluster/baseline/disruption-classes.test.ts',
  ]),
  [
    'reconciler: get hyperconvergeds.hco.kubevirt.io',
    'only where it went a moment ago: whether an object is there is never left to the watch',
  ],
  ...['mutating', 'validating'].flatMap((sort) => [
    [
      `reconciler: get ${sort}webhookconfigurations.admissionregistration.k8s.io`,
      'only where the API server refuses ours: test/cluster/never-bricks/registration.test.ts',
    ],
    [
      `reconciler: delete ${sort}webhookconfigurations.admissionregistration.k8s.io`,
      'only where the product is switched off: test/cluster/overrides/activation.test.ts',
    ],
  ]),
  ['reconciler: delete machineconfigs.machineconfiguration.openshift.io', PRUNED],
  ['reconciler: delete nodehealthchecks.remediation.medik8s.io', PRUNED],
])

t.test('the chart, from its installation to its end', async (t) => {
  const site = await embeddedSite(t, { crds: false })
  const { cluster } = site
  const rehearsal = await openRehearsal(site)
  t.teardown(() => rehearsal.close())
  // What was asked before the last step, with which the roles go.
  let asked = auditedOfAll(cluster)

  for (const { title, run } of SCENARIO) {
    asked = auditedOfAll(cluster)
    let isDone = false
    const take = async () => {
      await run(rehearsal)
      isDone = true
    }
    await t.test(title, async (t) => {
      await t.resolves(take())
    })
    // Each step goes on from where the one before has ended.
    if (!isDone) return
  }

  await t.test('nearly every asset was active meanwhile', async (t) => {
    const kept = await keptObjects(rehearsal)
    t.ok(kept.length >= 20, `${kept.length} objects`)
  })

  await t.test('until its roles went, nothing was refused to either process', (t) => {
    const refused = asked.filter(({ responseStatus }) => responseStatus?.code === 403)
    t.same(refused.map(asLine), [])
    t.end()
  })

  await t.test('they were granted what they did, and nothing else', (t) => {
    const used = usedRights(auditedOfAll(cluster))
    const unused = [...grantedRights()].filter((right) => !used.has(right))
    t.same(unused.sort(), Object.keys(UNUSED).sort())
    t.end()
  })

  await t.test('what the rehearsal brought goes', async (t) => {
    await cleanUp(rehearsal)
    const { items } = await rehearsal.read('/api/v1/namespaces')
    t.ok(
      items.every(
        ({ metadata }: { metadata: { name: string; deletionTimestamp?: string } }) =>
          metadata.deletionTimestamp || /^(default|kube-.*)$/.test(metadata.name),
      ),
    )
  })
})
