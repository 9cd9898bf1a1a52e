import t from 'tap'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { HCO, STATE } from '../harness/objects.ts'
import { type CatalogText, configMap, programWith } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const PREFIX = 'platform.kubevirt.io'
const MERGE_PATCH = 'application/merge-patch+json'

const template = (value: string) => `apiVersion: v1
kind: ConfigMap
metadata: { name: <%= object.name %>, namespace: <%= object.namespace %> }
data: { value: ${value} }
`
const asset = (name: string, group: string, more: object = {}) => ({
  name,
  group,
  description: 'a test needs it',
  template: `active/${name}.yaml.ejs`,
  object: configMap(name),
  install: 'always',
  order: 10,
  ...more,
})

/** Beside the HyperConverged one asset whose edits are corrected, and one whose change would reboot nodes. */
const change = ({ assets }: CatalogText) => ({
  assets: [
    ...assets.slice(0, 1),
    asset('plain', 'first'),
    asset('rolling', 'second', { disruption: 'reboot', pool: 'worker' }),
  ],
})
const files = {
  'active/plain.yaml.ejs': template('kept'),
  'active/rolling.yaml.ejs': template("<%= optional(facts.hco.annotations, '/size', 'small') %>"),
}

const NAMES = ['plain', 'rolling'] as const
type Name = (typeof NAMES)[number]
type Door = string

/** What a setting means: how the webhook answers an edit, and which of the edits it missed are healed. */
interface Meaning {
  readonly door: Readonly<Record<Name, Door>>
  readonly healed: readonly Name[]
}

const NOTHING: Meaning = { door: { plain: 'passes', rolling: 'passes' }, healed: [] }
const ALL: Meaning = {
  door: { plain: 'corrected', rolling: 'denied' },
  healed: ['plain', 'rolling'],
}
type Stated = Readonly<Record<string, string>>

const cases: readonly {
  readonly valid: Stated
  readonly invalid: Stated
  readonly faults: readonly RegExp[]
  /** What they mean while the last valid ones are known, and while none are. */
  readonly known: Meaning
  readonly unknown: Meaning
}[] = [
  {
    valid: { autopilot: 'hco,first', enforcement: 'deny' },
    invalid: { autopilot: 'False', enforcement: 'Deny' },
    faults: [
      /autopilot must be "true", "false", "observe" or a comma .* not "False"/,
      /enforcement must be "correct" or "deny", not "Deny"/,
    ],
    known: { door: { plain: 'denied', rolling: 'passes' }, healed: ['plain'] },
    unknown: NOTHING,
  },
  {
    valid: { 'disabled-resources': '[{kind: Config*, name: rol*}]' },
    invalid: { 'disabled-resources': 'rolling' },
    faults: [/disabled-resources must be a YAML list of names/],
    known: { door: { plain: 'corrected', rolling: 'passes' }, healed: ['plain'] },
    unknown: NOTHING,
  },
]

t.test('settings that are invalid at rest', async (t) => {
  const program = programWith(t, { change, files })
  const cluster = await autopilotCluster(t, { program, reconcilerFlags: ['--resync=500ms'] })
  const { read, restart, withoutWebhook, untilCompared, untilEvent, metric } = cluster
  const alice = cluster.person('alice')
  /** What was told of the settings so far. */
  const notes = (fault: RegExp) =>
    cluster
      .log('reconciler')
      .split('\n')
      .filter((line) => line.includes('invalid setting on the HyperConverged'))
      .map((line): string => JSON.parse(line).note)
      .filter((note) => fault.test(note))
  const merge = async (path: string, patch: object) => {
    const { status, body } = await cluster.admin('PATCH', path, patch, MERGE_PATCH)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  const annotate = (annotations: Readonly<Record<string, string | null>>) => {
    const prefixed = Object.entries(annotations).map(([key, text]) => [`${PREFIX}/${key}`, text])
    return merge(HCO, { metadata: { annotations: Object.fromEntries(prefixed) } })
  }
  const storedOf = async (name: Name): Promise<string> =>
    (await read(`${CONFIG_MAPS}/${name}`)).data.value
  let edits = 0
  const editBoth = async () => {
    const patch = { data: { value: `edit-${++edits}` } }
    for (const name of NAMES) await merge(`${CONFIG_MAPS}/${name}`, patch)
  }
  const doorOf = async (name: Name): Promise<Door> => {
    const patch = ['--type=merge', '--patch={"data":{"value":"edited"}}', '--dry-run=server']
    const { code, stderr } = await alice(['patch', 'configmap', name, '-n=default', ...patch])
    if (code !== 0) return stderr.includes('is kept by') ? 'denied' : stderr
    return stderr.includes('kept at') ? 'corrected' : 'passes'
  }
  const untilMeans = async ({ door, healed }: Meaning) => {
    const isEdited = async (name: Name) => (await storedOf(name)) === `edit-${edits}`
    for (const name of NAMES) {
      await until(`${name}: ${door[name]}`, async () => (await doorOf(name)) === door[name])
      if (healed.includes(name))
        await until(`${name} is healed`, async () => !(await isEdited(name)))
      else await untilCompared(name)
      if (!healed.includes(name) && !(await isEdited(name))) throw new Error(`${name} was healed`)
    }
  }
  const untilInForce = (stated: Stated) =>
    until(`${JSON.stringify(stated)} is published`, async () => {
      const settings = JSON.parse((await read(STATE)).data['settings.json'])
      const prefixed = Object.entries(stated).map(([key, text]) => [`${PREFIX}/${key}`, text])
      return JSON.stringify(settings) === JSON.stringify(Object.fromEntries(prefixed))
    })
  /** The state of a cluster that nobody has led yet. */
  const withoutState = () => cluster.admin('DELETE', STATE)

  const standingBy = () =>
    metric('reconciler', 'virt_platform_standing_by', 'reason="InvalidSetting"')
  const untilStandingBy = (value: 0 | 1) =>
    until(`the gauge is ${value}`, async () => (await standingBy()) === value)
  /** The series of what was edited, by name: one that is not there is none. */
  const complianceOf = async () => {
    const reply = await fetch(`http://127.0.0.1:${cluster.autopilot.opsPorts.reconciler}/metrics`)
    const lines = (await reply.text()).split('\n')
    return Object.fromEntries(
      NAMES.flatMap((name) =>
        lines
          .filter((line) => line.startsWith('virt_platform_compliance_status{'))
          .filter((line) => line.includes(`name="${name}"`))
          .map((line) => [name, Number(line.split(' ').at(-1))]),
      ),
    )
  }

  await t.test('invalid switches that were validly absent count as absent', async (t) => {
    await untilInForce({})
    await withoutWebhook(async () => {
      await annotate({ autopilot: 'yes', 'disabled-resources': '{{{' })
      await editBoth()
    })
    await untilMeans(ALL)
    for (const fault of [/autopilot must be .* not "yes"/, /disabled-resources must be /]) {
      const { note } = await untilEvent('InvalidSetting', fault)
      t.match(note, /; it counts as absent, as before$/)
    }
    t.equal(await standingBy(), 0)
  })

  await t.test('and do so across restarts of both processes', async (t) => {
    await restart('reconciler')
    await withoutWebhook(editBoth)
    await untilMeans(ALL)
    t.equal(await standingBy(), 0)
    await annotate({ autopilot: null, 'disabled-resources': null })
    await untilInForce({})
  })

  for (const { valid, invalid, faults, known, unknown } of cases) {
    const settings = Object.keys(valid).join(' and ')
    const none = Object.fromEntries(Object.keys(valid).map((key) => [key, null]))

    await t.test(`an invalid ${settings} keeps its last valid meaning`, async (t) => {
      await annotate(valid)
      await untilInForce(valid)
      await withoutWebhook(async () => {
        await annotate(invalid)
        await editBoth()
      })
      await untilMeans(known)
      for (const fault of faults) {
        const { regarding, note } = await untilEvent('InvalidSetting', fault)
        t.equal(regarding.name, 'kubevirt-hyperconverged')
        t.match(note, PREFIX)
        t.equal(notes(fault).length, 1)
      }
    })

    await t.test(`an invalid ${settings} does so across restarts of both processes`, async (t) => {
      await restart('reconciler')
      await withoutWebhook(editBoth)
      await untilMeans(known)
      for (const fault of faults) t.equal(notes(fault).length, 2, 'each leader tells it once')
    })

    await t.test(`${settings} is mended without a restart`, async (t) => {
      const { pid } = cluster.autopilot.reconciler.child()
      await annotate(none)
      await untilInForce({})
      await untilMeans(ALL)
      t.equal(cluster.autopilot.reconciler.child().pid, pid)
    })

    await t.test(`an invalid ${settings} of which none is known does not fail open`, async (t) => {
      await withoutWebhook(() =>
        restart('reconciler', {
          async meanwhile() {
            await withoutState()
            await annotate(invalid)
            await editBoth()
          },
        }),
      )
      await untilMeans(unknown)
      for (const fault of faults) t.equal(notes(fault).length, 3)
      t.match(
        notes(faults[0] ?? /$^/).at(-1),
        /; nothing is written or corrected until it is mended$/,
      )
      await untilStandingBy(1)
      t.same(await complianceOf(), { plain: 0, rolling: 0 }, 'all is compared')
    })

    await t.test(`and the next leader does not take the caution for a wish`, async () => {
      await restart('reconciler')
      await untilMeans(unknown)
      await untilStandingBy(1)
      await annotate(none)
      await untilMeans(ALL)
      await untilStandingBy(0)
    })
  }

  const pending = () => metric('reconciler', 'virt_platform_pending_disruption', 'name="rolling"')
  const untilRolled = (size: string) =>
    until(`${size} is applied`, async () => (await storedOf('rolling')) === size)
  const untilHeld = async (size: string) => {
    await until(`${size} waits`, async () => (await pending()) === 1)
    await untilCompared('rolling')
    if ((await storedOf('rolling')) === size) throw new Error(`${size} was applied`)
  }

  await t.test('an invalid disruptive-changes keeps its last valid meaning', async (t) => {
    await annotate({ 'disruptive-changes': 'apply', size: 'one' })
    await untilRolled('one')
    await withoutWebhook(() => annotate({ 'disruptive-changes': 'hld', size: 'two' }))
    await untilRolled('two')
    await restart('reconciler')
    await annotate({ size: 'three' })
    await untilRolled('three')
    await untilEvent('InvalidSetting', /disruptive-changes must be "apply" or "hold", not "hld"/)
    t.equal(await pending(), 0)
  })

  await t.test('an invalid disruptive-changes holds, if none was valid before', async () => {
    await withoutWebhook(() =>
      restart('reconciler', {
        async meanwhile() {
          await withoutState()
          await annotate({ size: 'four' })
        },
      }),
    )
    await untilHeld('four')
    await cluster.untilEvent(
      'DisruptionPending',
      /ConfigMap rolling reboots 3 nodes of pool worker/,
    )
    await restart('reconciler')
    await untilHeld('four')
    await annotate({ 'disruptive-changes': null })
    await untilRolled('four')
    // It is stored a moment before the leader has its answer.
    await until('nothing waits', async () => (await pending()) === 0)
  })

  await t.test('an invalid enforcement after none at all is the flag’s', async () => {
    await withoutWebhook(async () => {
      await annotate({ enforcement: 'warn' })
      await untilEvent('InvalidSetting', /enforcement must be .* not "warn"/)
      await editBoth()
    })
    await untilMeans(ALL)
  })
})
