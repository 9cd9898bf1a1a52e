import t from 'tap'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { HYPERCONVERGED, METALLB } from '../harness/objects.ts'
import { configMap, programWith } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const PREFIX = 'platform.kubevirt.io'
const MERGE = 'application/merge-patch+json'
const OURS = { [`${PREFIX}/managed-by`]: 'virt-platform-autopilot' }
const PATIENCE_MS = 60_000

const GAUGE = /^# TYPE (virt_platform_\w+) gauge$/gm

/** Every series of our gauges in what a process exposes, in their order by name. */
function gaugesIn(text: string): readonly string[] {
  const names = new Set([...text.matchAll(GAUGE)].map(([, name]) => name))
  const isGauge = (line: string) => names.has(/^\w+/.exec(line)?.[0])
  return text.split('\n').filter(isGauge).sort()
}

t.test('gauges tell what is, whoever was restarted meanwhile', async (t) => {
  const program = programWith(t, {
    change: (catalog) => ({
      ...catalog,
      assets: [
        ...catalog.assets,
        {
          name: 'optional',
          group: 'new',
          description: 'a test needs it',
          template: 'active/optional.yaml.ejs',
          object: configMap('optional'),
          install: 'opt-in',
          order: 70,
          conditions: [{ type: 'annotation', key: 'enable-new' }],
        },
      ],
      tombstones: [
        {
          name: 'outdated',
          group: 'old',
          description: 'a better way has come',
          object: configMap('outdated'),
        },
      ],
    }),
    files: {
      'active/optional.yaml.ejs':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: optional\n  namespace: default\ndata:\n  a: b\n',
    },
  })
  const cluster = await autopilotCluster(t, { program, reconcilerFlags: ['--resync=1s'] })
  const { admin, autopilot, read } = cluster
  const alice = cluster.person('alice')
  const gauges = async (role: 'webhook' | 'reconciler') => {
    const reply = await fetch(`http://127.0.0.1:${autopilot.opsPorts[role]}/metrics`)
    return gaugesIn(await reply.text())
  }
  const untilSeries = (what: string, isThere: (lines: readonly string[]) => boolean) =>
    until(what, async () => isThere(await gauges('reconciler')), PATIENCE_MS)
  const enable = async (value: 'true' | 'false') =>
    t.match(
      await alice(['annotate', ...HYPERCONVERGED, '--overwrite', `${PREFIX}/enable-new=${value}`]),
      { code: 0 },
    )
  const annotate = (path: string, annotations: object) =>
    admin('PATCH', path, { metadata: { annotations } }, MERGE)

  // One asset each that is paused, changed by its owner, optional, and claimed by somebody else.
  const unmanaged = { [`${PREFIX}/mode`]: 'unmanaged' }
  const outdated = { name: 'outdated', labels: OURS, annotations: unmanaged }
  await admin('POST', MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: outdated })
  await annotate(METALLB, { [`${PREFIX}/reconcile-paused`]: 'true' })
  await enable('true')
  const EXPECTED = [
    /^virt_platform_paused_resources\{.*name="metallb".*\} 1$/,
    /^virt_platform_compliance_status\{.*name="optional".*\} 1$/,
    /^virt_platform_tombstone_status\{.*name="outdated".*\} -2$/,
    /^virt_platform_activation_info\{mode="all"\} 1$/,
    /^virt_platform_leader 1$/,
    /^virt_platform_webhook_ca_expiry_timestamp_seconds [1-9]/,
  ]
  const hasAll = (lines: readonly string[]) =>
    EXPECTED.every((series) => lines.some((line) => series.test(line)))
  await untilSeries('all of them are told', hasAll)

  for (const role of ['reconciler', 'webhook'] as const) {
    await t.test(`all of the ${role}’s are there again after its restart`, async (t) => {
      const before = await gauges(role)
      t.ok(before.length > 0)
      await cluster.restart(role)
      const wanted = before.join('\n')
      await until('they are', async () => (await gauges(role)).join('\n') === wanted, PATIENCE_MS)
      t.strictSame(await gauges(role), before)
    })
  }

  const of = (name: string, lines: readonly string[]) =>
    lines.filter((line) => line.includes(`name="${name}"`))

  await t.test('a series goes with its asset, and a restart does not bring it back', async (t) => {
    await enable('false')
    await untilSeries('it is gone', (lines) => of('optional', lines).length === 0)
    t.ok(await read(`${MAPS}/optional`), 'the object is left over')
    await cluster.restart('reconciler')
    await untilSeries('the others are told', (lines) =>
      lines.some((line) => EXPECTED[0]?.test(line)),
    )
    await cluster.untilCompared('metallb')
    t.strictSame(of('optional', await gauges('reconciler')), [])
  })

  await t.test('what is left over, or no longer wanted, anybody may delete', async (t) => {
    for (const name of ['optional', 'outdated']) {
      const said = await alice(['delete', 'configmap', '-n', 'default', name])
      t.match(said, { code: 0 }, said.stderr)
      t.equal(said.stderr, '', 'nobody is warned of its coming back')
    }
    await untilSeries('it is told', (lines) =>
      of('outdated', lines).some((line) => /tombstone_status.* 0$/.test(line)),
    )
    for (const name of ['optional', 'outdated'])
      t.equal(await read(`${MAPS}/${name}`), undefined, name)
  })
})
