import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { roleFor } from '../../../src/shared/api/roles.ts'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import { findTool } from '../../../tools/go-programs/tools.ts'
import { EMBEDDED, INVALID_SPECS } from '../../unit/cli/graph/invalid-specs.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import { environment } from '../harness/fixture.ts'
import { run } from '../harness/run.ts'
import {
  configMapPath,
  graphCluster,
  HOME,
  inlineTransform,
  transformPath,
} from './graph-cluster.ts'

// Two ConfigMaps, of which the second waits for the first, and a third if asked for.
const MODULE = `package greeting

#Input: {
	text:  string & !=""
	extra: bool | *true
	waits: bool | *false
}
input: #Input
context: {name: string, namespace: string}
graph: nodes: [
	{
		id: "first"
		object: {apiVersion: "v1", kind: "ConfigMap", metadata: name: "\\(context.name)-first", data: text: input.text}
		if input.waits {readyWhen: [{type: "ConditionMatch", conditionType: "Never", conditionStatus: "True"}]}
	},
	{
		id: "second"
		dependsOn: ["first"]
		object: {apiVersion: "v1", kind: "ConfigMap", metadata: name: "\\(context.name)-second"}
	},
	if input.extra {
		id: "third"
		object: {apiVersion: "v1", kind: "ConfigMap", metadata: name: "\\(context.name)-third"}
	},
]
`
const BOB = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }

const hello = (input: object, more: object = {}) =>
  inlineTransform('hello', MODULE, { input, ...more })

t.test('graph diff and graph tree say what the reconciler does and has done', async (t) => {
  const cluster = await graphCluster(t)
  const { apply, admin, read, untilReady } = cluster
  const env = { CUE_EVALUATOR: await findTool('cue-evaluator', environment(), () => undefined) }
  const command =
    (name: string) =>
    (target: string, flags: readonly string[] = [], kubeconfig = cluster.kubeconfig) =>
      run(['graph', name, target, `--kubeconfig=${kubeconfig}`, `--namespace=${HOME}`, ...flags], {
        env,
      })
  const [diff, tree] = [command('diff'), command('tree')]
  const file = join(cluster.dataDir, 'hello.json')
  const diffOf = (transform: Manifest, flags: readonly string[] = []) => {
    writeFileSync(file, JSON.stringify(transform))
    return diff(file, flags)
  }
  const linesOf = ({ stdout }: { readonly stdout: string }) => stdout.split('\n').slice(0, -1)

  await t.test('what is not there would be created', async (t) => {
    const said = await diffOf(hello({ text: 'hi' }))
    t.same(
      [said.code, linesOf(said)],
      [
        1,
        ['first', 'second', 'third'].map(
          (id) => `ConfigMap ${HOME}/hello-${id} (${id}): would be created`,
        ),
      ],
    )
    t.same(await diff('hello'), {
      code: 2,
      stdout: '',
      stderr: `virt-platform-autopilot: there is no Transform ${HOME}/hello: -n says in which namespace it is\n`,
    })
  })

  await t.test('at rest nothing would change, by name and by file', async (t) => {
    await apply(hello({ text: 'hi' }))
    await untilReady('hello', 'True')
    t.same(await diff('hello'), { code: 0, stdout: '', stderr: '' })
    t.same(await diffOf(hello({ text: 'hi' })), { code: 0, stdout: '', stderr: '' })
    const said = await tree('hello')
    t.equal(said.code, 0)
    t.same(linesOf(said), [
      `Transform ${HOME}/hello: Ready: 3 objects are ready`,
      `├─ first      Ready  ConfigMap ${HOME}/hello-first: exists`,
      `│  └─ second  Ready  ConfigMap ${HOME}/hello-second: exists`,
      `└─ third      Ready  ConfigMap ${HOME}/hello-third: exists`,
    ])
  })

  await t.test('an edit changes what it changes, and what it leaves out goes', async (t) => {
    const said = await diffOf(hello({ text: 'ho', extra: false }))
    t.same(
      [said.code, linesOf(said)],
      [
        1,
        [
          `ConfigMap ${HOME}/hello-first (first): would be changed`,
          '  /data/text "hi" → "ho"',
          `ConfigMap ${HOME}/hello-third (third): would be deleted`,
        ],
      ],
    )
    const kept = await diffOf(hello({ text: 'hi', extra: false }, { deletionPolicy: 'Orphan' }))
    t.match(linesOf(kept), [
      /hello-third .*leaves the graph and is left as it is: its deletionPolicy/,
    ])
    const annotations = { 'pequod.io/prune-protection': 'true' }
    await admin(
      'PATCH',
      configMapPath('hello-third'),
      { metadata: { annotations } },
      'application/merge-patch+json',
    )
    const guarded = await diffOf(hello({ text: 'hi', extra: false }))
    t.match(linesOf(guarded), [
      /hello-third .*leaves the graph and is kept by its annotation pequod/,
    ])
  })

  await t.test('what others changed meanwhile would be put back', async (t) => {
    await apply(hello({ text: 'hi' }, { suspend: true }))
    await untilReady('hello', { reason: 'Suspended' })
    const data = { text: 'theirs', more: 'theirs' }
    await admin('PATCH', configMapPath('hello-first'), { data }, 'application/merge-patch+json')
    const { code, stdout, stderr } = await diff('hello')
    t.equal(code, 1)
    t.equal(
      stdout,
      `ConfigMap ${HOME}/hello-first (first): would be changed\n  /data/text "theirs" → "hi"\n`,
    )
    t.match(stderr, /hello is suspended: nothing is done until spec\.suspend is false/)
    t.match((await tree('hello')).stdout, /^Transform shop\/hello: not ready \(Suspended\)/)
    await apply(hello({ text: 'hi' }))
    await untilReady('hello', 'True')
    t.equal((await read(configMapPath('hello-first'))).data.text, 'hi')
  })

  await t.test('what waits is shown with what it waits for', async (t) => {
    await apply(inlineTransform('slow', MODULE, { input: { text: 'hi', waits: true } }))
    await untilReady('slow', { reason: 'Executing' })
    const { code, stdout } = await tree('slow', ['-o', 'json'])
    t.equal(code, 1)
    const { transform, nodes } = JSON.parse(stdout)
    t.match(transform, { ready: 'False', message: /ConfigMap shop\/slow-first: / })
    t.match(
      nodes.map(({ id, phase, dependsOn }: Loose) => [id, phase, dependsOn]),
      [
        ['first', 'WaitingReady', []],
        ['second', 'Pending', ['first']],
        ['third', 'Ready', []],
      ],
    )
    t.match(nodes[1].message, /waits for ConfigMap shop\/slow-first/)
  })

  await t.test('an object of somebody else is not applied', async (t) => {
    await apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'other-first', namespace: HOME },
    })
    writeFileSync(file, JSON.stringify(inlineTransform('other', MODULE, { input: { text: 'a' } })))
    const { code, stdout } = await diff(file, ['-o', 'json'])
    t.equal(code, 1)
    t.match(JSON.parse(stdout).objects, [
      { id: 'first', action: 'refuse', message: /^exists already/ },
      { id: 'second', action: 'create' },
      { id: 'third', action: 'create' },
    ])
  })

  await t.test('a module of a ConfigMap is read as whoever asks', async (t) => {
    const module = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'modules', namespace: HOME },
      data: { 'm.cue': MODULE },
    }
    await apply(module)
    const cueRef = { type: 'configmap', ref: 'modules' }
    const named = { ...hello({ text: 'hi' }), spec: { cueRef, input: { text: 'hi' } } }
    t.match(await diffOf(named), { code: 0, stdout: '' })
    const [resources, verbs] = [['transforms', 'resourcegraphs'], ['get']]
    await apply(
      ...roleFor({ account: 'unused', namespace: HOME }, 'transforms-viewer', [
        { apiGroups: ['platform.pequod.io'], resources, verbs },
      ]).map((object) => (object.kind === 'RoleBinding' ? { ...object, subjects: [BOB] } : object)),
    )
    const bob = cluster.kubeconfigFor({ name: 'bob', groups: [] })
    const nobody = cluster.kubeconfigFor({ name: 'nobody', groups: [] })
    t.match(await diff(file, [], bob), {
      code: 2,
      stderr: /may not read the ConfigMap shop\/modules/,
    })
    const blind = await diff('hello', [], bob)
    t.same([blind.code, blind.stdout], [2, ''])
    t.match(blind.stderr, /ConfigMap shop\/hello-first cannot be compared: .*forbidden/)
    t.match(await tree('hello', [], bob), { code: 0, stdout: /first/ })
    t.match(await tree('hello', [], nobody), { code: 2, stdout: '', stderr: /forbidden/ })
  })

  await t.test('a Transform that is refused would change nothing', async (t) => {
    const said = await diffOf(hello({ text: '' }))
    t.same([said.code, said.stdout], [2, ''])
    t.match(
      said.stderr,
      /hello is refused, and nothing would change: InputInvalid: spec\.input\.text/,
    )
    const unread = await diffOf({ ...hello({}), spec: { cueRef: { type: 'inline' } } } as Manifest)
    t.match(unread, { code: 2, stderr: /spec\.input: is required; spec\.cueRef\.ref: is required/ })
  })

  await t.test(
    'what graph check takes for no Transform, the API server does not take',
    async (t) => {
      const path = `${transformPath('')}?dryRun=All&fieldValidation=Strict`.replace('/?', '?')
      const statusOf = async (spec: unknown) =>
        String(
          (await admin('POST', path, { ...hello({}, {}), metadata: { name: 'tried' }, spec }))
            .status,
        )
      t.equal(await statusOf({ cueRef: EMBEDDED, input: { image: 'docker.io/a/b:1' } }), '201')
      for (const [what, spec] of INVALID_SPECS)
        t.match(await statusOf(spec), /^4(00|22)$/, `${what}: ${JSON.stringify(spec)}`)
    },
  )
})
