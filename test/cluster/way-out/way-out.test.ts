import t, { type Test } from 'tap'
import { auditedOfAll } from '../harness/audit.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import type { Said } from '../harness/fixture.ts'
import { HCO, HEALTH_CHECK, STATE, SWAP } from '../harness/objects.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'
import { wayOutProgram } from './catalog.ts'
import {
  CONFIG_MAP,
  corrected,
  data,
  denied,
  type Edit,
  HOSTILE,
  type ImpossibleEdit,
  impossible,
  merge,
  PREFIX,
  ROLE,
  TARGETS,
  targetOf,
} from './edits.ts'

const SECRET = 'correct-horse-battery'

const commandsIn = ({ stderr }: Said) =>
  [...stderr.matchAll(/kubectl annotate .*$/gm)].map(([command]) => command)

t.test('the command that a message gives makes the very same edit last', async (t) => {
  const program = wayOutProgram(t)
  const cluster = await autopilotCluster(t, {
    program,
    isAudited: true,
    reconcilerFlags: ['--resync=1s'],
  })
  const { read, kubectl } = cluster
  const baselines = new Map<string, unknown>()
  for (const path of Object.keys(TARGETS)) baselines.set(path, contentOf(await read(path)))
  let people = 0
  const override = (manifest: object) => {
    const flags = [`--kubeconfig=${cluster.kubeconfig}`, `--namespace=${NAMESPACE}`]
    const input = JSON.stringify(manifest)
    return run(['override', '-', ...flags], { entry: program.entry, input })
  }

  const annotate = (path: string, ...annotations: readonly string[]) =>
    kubectl([
      'annotate',
      ...targetOf(path),
      '--overwrite',
      ...annotations.map((text) => `${PREFIX}/${text}`),
    ])
  /** Takes all overrides away, and puts the object back to its baseline. */
  const reset = async (path: string) => {
    await annotate(path, 'patch-', 'ignore-fields-', 'mode-')
    await until(`${path} is back at its baseline`, async () => {
      const { metadata } = await read(path)
      const object = { ...(baselines.get(path) as object), metadata }
      return (await cluster.admin('PUT', path, object)).status === 200
    })
  }
  const works = (code: number) => async (edit: Edit) => {
    const { says, path, before = {}, write, way, of, stored } = edit
    await t.test(says, async (t) => {
      // Each comes for the first time: nobody's war.
      const person = cluster.person(`admin-${++people}`)
      const overrides = Object.entries(before).map(([key, value]) => `${key}=${value}`)
      if (overrides.length > 0) t.match(await annotate(path, ...overrides), { code: 0 })
      const said = await write(person)
      t.equal(said.code, code, said.stderr)
      t.strictNotSame(of(await read(path)), stored, 'it is not stored')
      const command = commandsIn(said).find((text) => text.includes(`${PREFIX}/${way}=`))
      t.ok(command, said.stderr)
      for (const text of commandsIn(said))
        t.match(await person.shell(`${text} --dry-run=server`), { code: 0 }, text)
      const pasted = await person.shell(String(command))
      t.match(pasted, { code: 0 }, pasted.stderr)
      const again = await write(person)
      t.match(again, { code: 0, stderr: /^(Edit cancelled, no changes made\.\n)?$/ }, again.stderr)
      t.strictSame(of(await read(path)), stored, 'it is stored')
      await reset(path)
    })
  }

  for (const edit of corrected) await works(0)(edit)
  const isVain = (code: number) => async (edit: ImpossibleEdit) => {
    const { says, path, write, patch, why } = edit
    await t.test(`${says}: what the API server refuses is not offered`, async (t) => {
      const person = cluster.person(`admin-${++people}`)
      const said = await write(person)
      t.equal(said.code, code, said.stderr)
      t.match(
        said.stderr,
        `No annotation helps, since the API server does not take this edit: ${why}`,
      )
      t.strictSame(commandsIn(said), [])
      // So it is: the annotation that would have been offered does no good.
      const annotated = await annotate(path, `patch=${JSON.stringify([patch])}`)
      t.match(annotated, { code: 1, stderr: /is invalid: / }, annotated.stderr)
    })
  }
  for (const edit of impossible) await isVain(0)(edit)

  const tell = async (t: Test, code: number) => {
    const said = await merge(CONFIG_MAP, data({ password: SECRET }))(cluster.person(`eve-${code}`))
    t.equal(said.code, code)
    t.match(said.stderr, /\/data\/password.* kept /)
    t.match(said.stderr, 'the command would show a secret or a payload')
    t.notMatch(said.stderr, SECRET)
    await until('it is told', async () => cluster.log('webhook').includes(`"user":"eve-${code}"`))
  }
  await t.test('a secret is not repeated where its edit is corrected', (t) => tell(t, 0))

  await t.test('a text too long for a warning, by the command that override prints', async (t) => {
    const person = cluster.person(`admin-${++people}`)
    const greeting = `${HOSTILE}${'é'.repeat(3_000)}`
    const edit = merge(CONFIG_MAP, data({ greeting }))
    t.match(await edit(person), {
      stderr:
        /To change it: the command is too long to be shown here: `virt-platform-autopilot override FILE` prints it/,
    })
    const { apiVersion, kind, metadata } = await read(CONFIG_MAP)
    const { name, namespace } = metadata
    const input = { apiVersion, kind, metadata: { name, namespace }, data: { greeting } }
    const printed = await override(input)
    t.match(printed, { code: 0 }, printed.stderr)
    t.match(await person.shell(printed.stdout), { code: 0 })
    t.match(await edit(person), { code: 0, stderr: '' })
    t.equal((await read(CONFIG_MAP)).data.greeting, greeting)
    await reset(CONFIG_MAP)
  })

  await t.test('rules of a role: override says that only the object can be owned', async (t) => {
    const { metadata, ...role } = await read(ROLE)
    const printed = await override({ ...role, metadata: { name: metadata.name }, rules: [] })
    t.equal(printed.code, 1)
    t.match(
      printed.stderr,
      'ClusterRole rules: this kind takes no platform.kubevirt.io/patch, and /rules cannot be owned alone; to own the object: kubectl annotate clusterrole rules --overwrite platform.kubevirt.io/mode=unmanaged\n',
    )
  })

  await t.test('a war ends for whoever takes the way out of the denial', async (t) => {
    const mallory = cluster.person('mallory')
    // A value of its own each time: the same one within moments is the same call, repeated.
    const round = (minHealthy: number) => merge(HEALTH_CHECK, { spec: { minHealthy } })(mallory)
    const refusal = await until('it is a war', async () => {
      const said = await round(1_000 + ++people)
      return said.code !== 0 && said
    })
    t.match(
      refusal.stderr,
      'mallory (field manager kubectl-patch) edits managed fields of this object again and again',
    )
    const command = commandsIn(refusal).find((text) => text.includes(`${PREFIX}/patch=`))
    t.match(await mallory.shell(String(command)), { code: 0 })
    t.match(await round(1_000 + people), { code: 0, stderr: '' })
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, 1_000 + people)
    await reset(HEALTH_CHECK)
  })

  await t.test('whoever resumes a paused object is told what is put back', async (t) => {
    const [anna, path] = [cluster.person('anna'), HEALTH_CHECK]
    await annotate(path, 'reconcile-paused=true')
    const edit = merge(path, { spec: { minHealthy: '21%' } })
    t.match(await edit(anna), { code: 0, stderr: '' })
    const resumed = await annotate(path, 'reconcile-paused-')
    t.match(resumed.stderr, '/spec/minHealthy set to "51%" by virt-platform-autopilot')
    const said = await edit(anna)
    t.match(await anna.shell(String(commandsIn(said)[0])), { code: 0 })
    t.match(await edit(anna), { code: 0, stderr: '' })
    await reset(path)
  })
  await annotate(HCO, 'enforcement=deny')
  await until('the webhook knows that it is to deny', async () => {
    const dry = await kubectl([
      'patch',
      ...targetOf(CONFIG_MAP),
      '--type=merge',
      '--dry-run=server',
      `--patch=${JSON.stringify(data({ greeting: 'probe' }))}`,
    ])
    return dry.code === 1
  })
  for (const edit of denied) await works(1)(edit)
  for (const edit of impossible) await isVain(1)(edit)

  await t.test(
    'a secret is not repeated where its edit is denied, nor anywhere else',
    async (t) => {
      await tell(t, 1)
      const events = await cluster.admin('GET', '/apis/events.k8s.io/v1/events')
      const written = [
        JSON.stringify(events.body),
        cluster.log('webhook'),
        cluster.log('reconciler'),
        // It repeats what the webhook says of its decisions.
        JSON.stringify(auditedOfAll(cluster)),
      ]
      for (const text of written) {
        t.match(text, /texts|ConfigMap/)
        t.notMatch(text, SECRET)
      }
    },
  )

  const exclusions = async () =>
    (await read(HCO)).metadata.annotations[`${PREFIX}/disabled-resources`]
  const others = "- mtv\n- {kind: 'Pod*', name: \"it's $HOME\", namespace: a}\n"
  const listed = ['mtv', { kind: 'Pod*', name: "it's $HOME", namespace: 'a' }]
  for (const [path, code] of [
    [CONFIG_MAP, 0],
    [SWAP, 1],
  ] as const) {
    await t.test(`a deletion ${code === 0 ? 'that is in vain' : 'that is denied'}`, async (t) => {
      const person = cluster.person(`admin-${++people}`)
      const remove = (...flags: readonly string[]) =>
        person(['delete', ...targetOf(path), ...flags])
      await annotate(HCO, `disabled-resources=${others}`)
      const first = await until('the webhook knows what is disabled', async () => {
        const said = await remove('--dry-run=server')
        // What the deletion before this one has switched off was on the list, too.
        const isOld = path !== CONFIG_MAP && said.stderr.includes('"texts"')
        return said.stderr.includes('"mtv"') && !isOld && said
      })
      t.equal(first.code, code)
      const said = await remove()
      t.equal(said.code, code)
      t.match(await person.shell(String(commandsIn(said)[0])), { code: 0 })
      const asset = path === SWAP ? 'swap-enable' : 'texts'
      t.strictSame(JSON.parse(await exclusions()), [...listed, asset])
      // What was begun before the leader heard of it may still make the object anew.
      await until('the leader knows it too', async () =>
        (await read(STATE)).data['settings.json'].includes(asset),
      )
      await cluster.untilCompared('virt-node-health-check')
      await until('it is not kept any more', async () => {
        const again = await remove()
        return (again.code === 0 && again.stderr === '') || /NotFound/.test(again.stderr)
      })
      await cluster.untilCompared('virt-node-health-check')
      t.equal(await read(path), undefined, 'it stays away')
    })
  }
})

/** All of an object that we could have changed. */
function contentOf({ metadata: _metadata, status: _status, ...content }: Loose) {
  return content
}
