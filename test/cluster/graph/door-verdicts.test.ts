import t from 'tap'
import { PLATFORM_ADMINS } from '../../../tools/control-plane/kubeconfig.ts'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import {
  configMapPath,
  graphCluster,
  graphPath,
  HOME,
  inlineTransform,
  transformPath,
} from './graph-cluster.ts'

const alice = { name: 'alice', groups: [PLATFORM_ADMINS] }
const DENIED = 'admission webhook "validate.pequod.io" denied the request: '
const STATE = 'virt-platform-autopilot-graph-state'

// A ConfigMap of each name.
const MODULE = `package names

#Input: {names: [...string], count: int & >=1 | *1}
input: #Input
graph: nodes: [for name in input.names {
	id: name
	object: {apiVersion: "v1", kind: "ConfigMap", metadata: "name": name}
}]
policies: [if input.count == 7 {
	name: "no-seven", severity: "Warning", path: "spec.input.count", message: "seven is odd"
}]
`
const namesOf = (transform: string, names: readonly string[], more: object = {}) =>
  inlineTransform(transform, MODULE, { input: { names, ...more } })

const webservice = (name: string, input: object): Manifest => ({
  apiVersion: 'platform.pequod.io/v1alpha1',
  kind: 'Transform',
  metadata: { name, namespace: HOME },
  spec: { cueRef: { type: 'embedded', ref: 'webservice' }, input },
})

t.test('a Transform is judged before it is stored', async (t) => {
  const cluster = await graphCluster(t)
  const { kubectl, admin, read, apply, untilReady, untilGone } = cluster
  const applied = (object: Manifest, ...flags: readonly string[]) =>
    kubectl(['apply', '-f', '-', ...flags], { user: alice, input: JSON.stringify(object) })
  const judged = async () => {
    const metrics = await fetch(`http://127.0.0.1:${cluster.system.webhookOpsPort}/metrics`)
    const lines = (await metrics.text()).split('\n')
    return lines.filter((line) => line.startsWith('pequod_admission_requests_total{'))
  }

  await t.test('by modules that are shipped: every field at fault is named', async (t) => {
    const image = 'docker.io/nginxinc/nginx-unprivileged:1.29.3'
    const before = await judged()
    const dry = await applied(
      webservice('web', { image, port: 0, replicas: -1 }),
      '--dry-run=server',
    )
    t.equal(
      dry.stderr,
      `Error from server (BadRequest): error when creating "STDIN": ${DENIED}Transform shop/web has 2 faults:
spec.input.port: invalid value 0 (out of bound >=1) (module input.cue:54:18)
spec.input.replicas: invalid value -1 (out of bound >=0) (module input.cue:14:18)
`,
    )
    t.strictSame(await judged(), before, 'a dry run is not counted')
    const leaky = await applied(webservice('web', { image, env: { TOKEN: 'swordfish' } }))
    t.match(leaky.stderr, 'spec.input.env.TOKEN: a value that everybody who may read a Transform')
    t.match(await judged(), [/kind="Transform",operation="CREATE",verdict="denied",reason="Poli/])
    const unknown = {
      ...webservice('web', { image }),
      spec: { cueRef: { type: 'embedded', ref: 'wbservice' }, input: {} },
    }
    t.match(
      (await applied(unknown)).stderr,
      `${DENIED}Transform shop/web: spec.cueRef.ref: there is no module wbservice; the modules are webservice`,
    )
    t.equal(await read(transformPath('web')), undefined)
  })

  await t.test('however it is written, and without a loss', async (t) => {
    await apply(namesOf('one', ['a', 'b']))
    const stored = await untilReady('one', 'True')
    const invalid = namesOf('one', ['a', 'b'], { count: 0 })
    const fault = 'invalid value 0 (out of bound >=1) (module module.cue:3:43)'
    const message = `${DENIED}Transform shop/one: spec.input.count: ${fault}`
    const put = await admin<Loose>('PUT', transformPath('one'), { ...stored, spec: invalid.spec })
    t.match(put, {
      status: 422,
      body: {
        message,
        details: {
          causes: [{ reason: 'FieldValueInvalid', field: 'spec.input.count', message: fault }],
        },
      },
    })
    for (const flags of [[], ['--server-side', '--force-conflicts'], ['--force']]) {
      const { code, stderr } = await applied(invalid, ...flags)
      t.equal(code, 1, flags.join(' '))
      t.ok(stderr.endsWith(`${message}\n`), stderr)
    }
    const { metadata, spec } = await read(transformPath('one'))
    t.same(spec, stored.spec)
    t.equal(metadata.uid, stored.metadata.uid, '--force has not deleted it')
  })

  await t.test('what leaves the graph, and what should not stay so, is told', async (t) => {
    const { code, stderr } = await applied(
      namesOf('one', ['a'], { count: 7 }),
      '--server-side',
      '--force-conflicts',
    )
    t.equal(code, 0)
    t.equal(
      stderr,
      `Warning: Transform shop/one: one object leaves its graph and is deleted: ConfigMap shop/b.
Warning: Transform shop/one: spec.input.count: seven is odd (policy no-seven)
`,
    )
  })

  await t.test('what is another Transform’s stays its', async (t) => {
    const { code, stderr } = await applied(namesOf('two', ['a', 'c']))
    t.equal(code, 1)
    t.match(stderr, 'ConfigMap shop/a (node a) belongs to Transform shop/one')
    t.equal(await read(transformPath('two')), undefined)
  })

  await t.test('a deletion tells what goes, and how to keep it', async (t) => {
    await apply(namesOf('last', ['d', 'e']))
    await untilReady('last', 'True')
    const remove = (...flags: readonly string[]) =>
      kubectl(['delete', 'transform', 'last', '-n', HOME, ...flags], { user: alice })
    const dry = await remove('--dry-run=server')
    const wayOut = `kubectl patch transform last -n shop --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`
    t.equal(
      dry.stderr,
      `Warning: Transform shop/last takes with it, in this order: ConfigMap shop/d, ConfigMap shop/e.
Warning: To keep all of it, before you delete it (--dry-run=server tries it out): ${wayOut}
`,
    )
    const patch = wayOut.slice('kubectl '.length).replace(/'/g, '').split(' ')
    t.match(await kubectl(patch, { user: alice }), { code: 0 })
    t.match(await remove(), {
      code: 0,
      stderr:
        'Warning: Transform shop/last goes, and leaves as they are: ConfigMap shop/d, ConfigMap shop/e.\n',
    })
    await untilGone(transformPath('last'))
    t.ok(await read(configMapPath('d')))
    t.equal(await read(graphPath('last')), undefined)
  })

  const state = await read(configMapPath(STATE, 'virt-platform-autopilot-graph'))
  t.match(state.data['registered.json'], /^\{"ValidatingWebhookConfiguration":"[0-9a-f-]+"\}$/)
})
