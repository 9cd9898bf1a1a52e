import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { NAMESPACE } from '../harness/program.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'

const EXAMPLE = join(import.meta.dirname, '../../../docs/examples/own-assets')
const NAME = 'vm-clock'
const CONFIG_MAP = `/api/v1/namespaces/site-vms/configmaps/${NAME}`
const TARGET = ['configmap', '-n', 'site-vms', NAME] as const
const BASELINE = { 'chrony.conf': 'pool time.example.org iburst\n' }

const editOf = (text: string) => ({ data: { 'chrony.conf': text } })
const edit = (text: string) => [
  'patch',
  ...TARGET,
  '--type=merge',
  `--patch=${JSON.stringify(editOf(text))}`,
]

const entry = (members: object) => ({
  name: 'mine',
  group: 'site',
  description: 'the site wants it',
  template: 'active/mine.yaml.ejs',
  object: {
    ...{ group: '', versions: ['v1'], kind: 'ConfigMap', resource: 'configmaps' },
    ...{ namespace: 'default', name: 'mine' },
  },
  install: 'always',
  order: 100,
  ...members,
})
const metallb = {
  ...{ group: 'metallb.io', versions: ['v1beta1'], kind: 'MetalLB', resource: 'metallbs' },
  ...{ namespace: 'metallb-system', name: 'metallb' },
}
const template = (text = '') => `apiVersion: <%= object.apiVersion %>
kind: <%= object.kind %>
metadata:
  name: <%= object.name %>
  namespace: <%= object.namespace %>
${text}`

interface Folder {
  readonly catalog?: string | object
  readonly template?: string | object
}

const one = (members: object = {}) => ({ assets: [entry(members)] })

/** What is wrong with a folder, which stands for $, and all that is told of it. */
const mistakes: readonly (readonly [what: string, folder: Folder, ...told: string[]])[] = [
  ['no catalog.yaml', {}, '$/catalog.yaml: there is no file catalog.yaml in $'],
  [
    'a catalog.yaml that is a folder',
    { catalog: {} },
    '$/catalog.yaml: catalog.yaml in $ is a folder, not a file',
  ],
  [
    'a catalog that is no YAML',
    { catalog: 'assets:\n  - name: "mine' },
    '$/catalog.yaml:2: Missing closing "quote',
  ],
  [
    'an entry that is wrong in two ways',
    { catalog: stringify(one({ install: 'often', colour: 'red' })) },
    '$/catalog.yaml:16: asset mine has the unknown member "colour"',
    '$/catalog.yaml:14: asset mine: /install must be one of always, opt-in',
  ],
  [
    'the name of an asset of ours',
    { catalog: stringify(one({ name: 'metallb' })) },
    '$/catalog.yaml:2: asset metallb is not the first of this name: choose another',
  ],
  [
    'an object of ours',
    { catalog: stringify(one({ object: metallb })) },
    '$/catalog.yaml:2: asset mine is about the same object as metallb, which comes before it: take one of them away',
  ],
  [
    'no template',
    { catalog: stringify(one()), template: {} },
    '$/catalog.yaml:2: asset mine: there is no file active/mine.yaml.ejs in $',
  ],
  [
    'no file',
    { catalog: stringify(one({ files: ['active/none'] })) },
    '$/catalog.yaml:2: asset mine: there is no file active/none in $',
  ],
  [
    'paths that lead out of it',
    {
      catalog: stringify(
        one({ template: 'active/../../x.yaml.ejs', files: ['active/../../passwd'] }),
      ),
    },
    '$/catalog.yaml:5: asset mine: /template must not lead out of the folder',
    '$/catalog.yaml:17: asset mine: /files/0 must not lead out of the folder',
  ],
  [
    'a template that reads what there is not',
    { catalog: stringify(one()), template: template('data: { a: <%= facts.nodes %> }\n') },
    '$/catalog.yaml:2: asset mine: active/mine.yaml.ejs:6: value facts.nodes is not set: facts has only hco, hardware, topology, images',
  ],
  [
    'a template of two documents',
    { catalog: stringify(one()), template: template('---\ndata: { a: b }\n') },
    '$/catalog.yaml:2: asset mine: active/mine.yaml.ejs: line 6 of its output: a second document',
  ],
]

t.test(
  'a folder that cannot be used ends every command, with a line for each mistake',
  async (t) => {
    const trees = mistakes.map(([, { catalog, template: text = template() }], index) => [
      `${index}`,
      {
        ...(catalog !== undefined && { 'catalog.yaml': catalog }),
        ...(typeof text === 'string' && { active: { 'mine.yaml.ejs': text } }),
      },
    ])
    const path = t.testdir(Object.fromEntries(trees))
    for (const [index, [what, , ...told]] of mistakes.entries()) {
      const folder = join(path, String(index))
      const { code, stdout, stderr } = await run(['rbac', `--assets=${folder}`])
      const lines = stderr.replace('virt-platform-autopilot: ', '').trimEnd().split('\n')
      t.same([code, stdout], [1, ''], what)
      t.strictSame(
        lines.map((line) => line.replaceAll(folder, '$')),
        told,
        what,
      )
    }
    const missing = join(path, 'missing')
    // As diff itself does, this one keeps 1 for a difference.
    const codes = { webhook: 1, reconciler: 1, render: 1, diff: 2 }
    for (const [command, wanted] of Object.entries(codes)) {
      const { code, stdout, stderr } = await run([command, `--assets=${missing}`])
      t.equal(code, wanted, command)
      t.equal(stderr, `virt-platform-autopilot: ${missing}/catalog.yaml: ${missing} is no folder\n`)
      t.equal(stdout, '')
    }
  },
)

t.test('the example of assets of one’s own', async (t) => {
  // As a ConfigMap is mounted: what the folder is can change.
  const assets = join(t.testdir({}), 'assets')
  const mount = (folder: string) => {
    rmSync(assets, { force: true })
    symlinkSync(folder, assets)
  }
  const { assets: entries } = parse(readFileSync(join(EXAMPLE, 'catalog.yaml'), 'utf8'))
  const folderOf = (name: string, catalog: object) => {
    const folder = join(t.testdirName, name)
    mkdirSync(folder)
    writeFileSync(join(folder, 'catalog.yaml'), stringify(catalog))
    return folder
  }
  mount(EXAMPLE)
  const cluster = await autopilotCluster(t, {
    assets,
    isEarly: true,
    reconcilerFlags: ['--resync=500ms'],
  })
  const { admin, read, restart, withoutWebhook, untilEvent, untilCompared, metric } = cluster
  const alice = cluster.person('alice')
  const isBaseline = async () => {
    const { data } = (await read(CONFIG_MAP)) ?? {}
    return JSON.stringify(data) === JSON.stringify(BASELINE)
  }

  await t.test('waits for its namespace, and then makes the object', async (t) => {
    await untilEvent('AssetSkipped', /namespace site-vms does not exist/)
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'site-vms' },
    }
    t.equal((await admin('POST', '/api/v1/namespaces', namespace)).status, 201)
    const object = await until('it is there', () => read(CONFIG_MAP))
    t.strictSame(object.data, BASELINE)
    t.match(object.metadata.labels, {
      'platform.kubevirt.io/managed-by': 'virt-platform-autopilot',
    })
  })

  await t.test('an edit is corrected at the door, and told', async (t) => {
    const { code, stderr } = await until('the webhook knows the object', async () => {
      const said = await alice(edit('pool 192.0.2.1\n'))
      return /kept at/.test(said.stderr) && said
    })
    t.equal(code, 0)
    t.match(
      stderr,
      'Warning: ConfigMap site-vms/vm-clock: /data/chrony.conf kept at "pool time.example.org iburst\\n" by virt-platform-autopilot (vm-clock: the VMs of this site take the time from its clocks).',
    )
    t.match(stderr, `Warning: To change it: kubectl annotate ${TARGET.join(' ')} --overwrite`)
    t.ok(await isBaseline())
  })

  await t.test('an edit while the webhook is away is healed', async () => {
    await withoutWebhook(async () => {
      await alice(edit('pool 192.0.2.1\n'))
      await until('it is healed', isBaseline)
    })
  })

  await t.test('an edit is legitimate with the command that override prints', async (t) => {
    const manifest = join(t.testdir({}), 'manifest')
    const { apiVersion, kind, metadata } = await read(CONFIG_MAP)
    const own = { name: metadata.name, namespace: metadata.namespace }
    const text = 'pool time.example.org iburst\nmakestep 1 3\n'
    writeFileSync(manifest, stringify({ apiVersion, kind, metadata: own, ...editOf(text) }))
    const flags = [`--kubeconfig=${cluster.kubeconfig}`, `--namespace=${NAMESPACE}`]
    const { stdout } = await run(['override', manifest, ...flags, `--assets=${assets}`])
    t.match(stdout, /^kubectl annotate configmap .*platform\.kubevirt\.io\/patch=/)
    t.match(await alice.shell(stdout), { code: 0 })
    await until(
      'the patch is in force',
      async () => (await read(CONFIG_MAP)).data['chrony.conf'] === text,
    )
    const removal = ['annotate', ...TARGET, 'platform.kubevirt.io/patch-']
    t.match(await alice(removal), { code: 0 })
    await until('it is back at its baseline', isBaseline)
  })

  await t.test(
    'a webhook that has no such folder lets edits pass; the reconciler heals them',
    async (t) => {
      mount(folderOf('nothing', { assets: [] }))
      await restart('webhook')
      const before = await cluster.asked()
      t.match(await alice(edit('pool 192.0.2.1\n')), { code: 0, stderr: '' })
      await until('it is healed', isBaseline)
      t.ok((await cluster.asked()) > before, 'the API server asked it')
      t.equal(
        await metric('webhook', 'virt_platform_admission_requests_total', 'verdict="error"'),
        0,
      )
    },
  )

  await t.test('without its entry, the object stays and is anybody’s', async (t) => {
    await restart('reconciler')
    await untilCompared('metallb')
    t.match(await alice(edit('pool 192.0.2.1\n')), { code: 0, stderr: '' })
    await untilCompared('metallb')
    t.strictSame((await read(CONFIG_MAP)).data, { 'chrony.conf': 'pool 192.0.2.1\n' })
  })

  await t.test('a reconciler that has no such folder leaves the object to everybody', async (t) => {
    mount(EXAMPLE)
    await restart('webhook')
    t.match(await alice(edit('pool 192.0.2.2\n')), { code: 0, stderr: '' })
    await untilCompared('metallb')
    t.strictSame((await read(CONFIG_MAP)).data, { 'chrony.conf': 'pool 192.0.2.2\n' })
  })

  await t.test('as a tombstone it is deleted, with the roles that rbac prints', async (t) => {
    const [{ name, group, object }] = entries
    const description = 'the VMs bring their clocks along now'
    mount(folderOf('buried', { assets: [], tombstones: [{ name, group, description, object }] }))
    const rbac = await run(['rbac', `--assets=${assets}`, `--namespace=${NAMESPACE}`])
    t.match(rbac, { code: 0, stderr: '' })
    const applied = await cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f-'], {
      input: rbac.stdout,
    })
    t.match(applied, { code: 0 })
    await restart('reconciler')
    await until('it is gone', async () => (await read(CONFIG_MAP)) === undefined)
    await untilEvent('TombstoneDeleted', /deleted: the VMs bring their clocks along now/)
  })
})
