import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { loadCatalogWith } from '../../src/cli/assets.ts'
import { createProgram } from '../../src/cli/program.ts'
import { accounts } from '../../src/shared/baseline/generated/rbac.ts'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import { CHART, helmOn, NAMESPACE, objectsIn, templateArgs, type Values } from './helm.ts'
import { CHOSEN, INSTALLATIONS } from './matrix.ts'
import { type Loose, type Pod, podsIn, refOf } from './pods.ts'

const ROOT = join(import.meta.dirname, '../..')
const GOLDEN = join(ROOT, 'test/fixtures/chart/default.yaml')
const read = (file: string) => readFileSync(file, 'utf8')

t.test('the chart', async (t) => {
  const helm = await helmOn()
  const render = async (values: Values, namespace = NAMESPACE) => {
    const { isGood, stdout, stderr } = await helm(templateArgs(namespace), { ...CHOSEN, ...values })
    if (!isGood) throw new Error(stderr)
    return objectsIn(stdout)
  }
  for (const [what, values] of Object.entries(INSTALLATIONS)) {
    await t.test(`an installation ${what}`, async (t) => {
      const lint = await helm(['lint', CHART, '--strict'], { ...CHOSEN, ...values })
      t.ok(lint.isGood, lint.stdout + lint.stderr)
      const objects = await render(values)
      const refs = objects.map(refOf)
      t.equal(new Set(refs).size, refs.length, 'no object is there twice')
      t.notOk(
        refs.some((ref) => ref.startsWith('Secret/')),
        'the leader’s Secrets are not rendered',
      )
      for (const pod of podsIn(objects)) {
        isRestricted(t, pod)
        for (const container of pod.spec.containers) isRunnable(t, container)
      }
    })
  }

  await t.test('does not install what nobody chose, and says what the choices mean', async (t) => {
    const hold = /--set disruptiveChanges=hold +they wait.*\n.*=apply +they are made at once/
    const observe = /--set activation=observe +nothing is changed.*\n.*=on +they are brought/
    const said = async (values: Values) => {
      const { isGood, stderr } = await helm(templateArgs(), values)
      t.notOk(isGood)
      return stderr
    }
    const nothing = await said({})
    t.match(nothing, hold)
    t.match(nothing, observe)
    const half = await said({ activation: 'on' })
    t.match(half, hold)
    t.notMatch(half, observe)
    t.match(await said({ disruptiveChanges: 'apply' }), observe)
    t.match(await said({ disruptiveChanges: null, activation: 'on' }), /disruptiveChanges/)
  })

  await t.test('takes an `on` without quotes, which is a boolean to YAML', async (t) => {
    const { stdout, stderr } = await helm(
      templateArgs(),
      'activation: on\ndisruptiveChanges: apply\n',
    )
    t.match(stdout, '- --activation=on\n', stderr)
    t.match(stdout, '- --disruptive-changes=apply\n')
  })

  for (const [values, complaint] of [
    [{ disruptiveChange: 'hold' }, /disruptiveChange/],
    [{ disruptiveChanges: 'aply' }, /disruptiveChanges/],
    [{ activation: 'observer' }, /activation/],
    [{ activation: false }, /activation/],
    [{ image: { tags: 'v1' } }, /tags/],
    [{ image: { digest: 'sha256:abc' } }, /digest/],
    [{ image: { pullPolicy: 'always' } }, /pullPolicy/],
    [{ certificates: { mode: 'certmanager' } }, /mode/],
    [{ certificates: { issuerRef: { nam: 'a' } } }, /nam/],
    [{ webhook: { replicas: 0 } }, /replicas/],
    [{ webhook: { replica: 2 } }, /replica/],
    [{ webhook: { resources: { request: {} } } }, /request/],
    [{ webhook: { resources: { requests: { ram: '1' } } } }, /ram/],
    [{ reconciler: { extraArgs: ['-resync 5m'] } }, /extraArgs/],
    [{ monitoring: { prometheus: { account: 'a' } } }, /account/],
    [{ monitoring: { prometheus: { namespace: 'a' } } }, /both the namespace and the service/],
    [{ networkPolicy: { apiServers: [{ cidr: '10.0.0.0/8' }] } }, /cidr/],
    [{ preInstall: { diff: { enable: true } } }, /enable/],
    [{ tolerations: [{ keys: 'a' }] }, /keys/],
    [{ affinity: { node: {} } }, /node/],
    [{ logLevel: 'verbose' }, /logLevel/],
    [{ systems: { grahp: {} } }, /grahp/],
    [{ systems: { graph: { enroll: ['kube-system'] } } }, /enroll/],
    [{ systems: { graph: { enroll: ['Shop'] } } }, /enroll/],
    [{ systems: { graph: { enabled: true, namespace: '' } } }, /namespace/],
    [{ systems: { graph: { enabled: true, namespace: NAMESPACE } } }, /could forge/],
    [
      { systems: { graph: { enabled: true, namespace: 'a', enroll: ['a'] } } },
      /enroll has a, which is ours/,
    ],
    [{ systems: { graph: { failurePolicy: 'Igno' } } }, /failurePolicy/],
    [{ enabled: 'yes' }, /enabled/],
  ] as const) {
    await t.test(`refuses ${JSON.stringify(values)}`, async (t) => {
      const { isGood, stderr } = await helm(templateArgs(), { ...CHOSEN, ...values })
      t.notOk(isGood)
      t.match(stderr, complaint)
    })
  }

  await t.test('is rendered by default as it was looked at', async (t) => {
    const { stdout } = await helm(templateArgs(), CHOSEN)
    const how = `make it anew: helm ${templateArgs().join(' ')} --set disruptiveChanges=hold,activation=observe`
    t.equal(stdout, read(GOLDEN), how)
  })

  await t.test('grants exactly what `rbac` prints, in any namespace', async (t) => {
    for (const namespace of [NAMESPACE, 'elsewhere', '42']) {
      const wanted = accounts(loadCatalogWith({ namespace }), namespace)
      const found = new Map((await render({}, namespace)).map((one) => [refOf(one), one]))
      for (const object of wanted)
        t.strictSame(inOrder(found.get(refOf(object))), inOrder(object), refOf(object))
      const roles = [...found.values()].filter(
        ({ apiVersion, metadata }) => /^rbac/.test(apiVersion) && !metadata.annotations,
      )
      t.equal(roles.length, wanted.filter(({ apiVersion }) => /^rbac/.test(apiVersion)).length)
    }
  })

  await t.test(
    'serves the longest that the API server keeps a quiet connection, and ends in time',
    async (t) => {
      const [webhook] = podsIn(await render({})).filter(
        ({ name }) => name === BASELINE.webhookAccount,
      )
      const grace = webhook?.spec.containers[0].args.find((arg: string) =>
        /shutdown-grace/.test(arg),
      )
      const seconds = Number(/=(\d+)s$/.exec(grace)?.[1])
      t.ok(seconds > 90)
      t.ok(webhook?.spec.terminationGracePeriodSeconds >= seconds + 10)
    },
  )

  await t.test('labels the pods as the Services select them', async (t) => {
    const objects = await render(INSTALLATIONS['with everything said'] ?? {})
    const metrics = parse(read(join(ROOT, 'test/golden/mixed/metrics-service.yaml')))
    const service = objects.find(({ kind }) => kind === 'Service') as Loose
    const selectedBy = ({ spec: { selector } }: Loose) =>
      podsIn(objects)
        .filter(({ labels }) =>
          Object.entries(selector).every(([key, value]) => labels[key] === value),
        )
        .map(({ name }) => name)
        .sort()
    t.same(selectedBy(service), [BASELINE.webhookAccount])
    t.same(selectedBy(metrics), [BASELINE.reconcilerAccount, BASELINE.webhookAccount])
  })

  await t.test('is not for a Kubernetes without match conditions', async (t) => {
    const args = templateArgs().map((arg) => arg.replace(/(--kube-version)=.*/, '$1=1.29.9'))
    t.match(await helm(args, CHOSEN), { isGood: false, stderr: /kubeVersion: >=1\.30/ })
  })

  await t.test('has the program’s version', async (t) => {
    const { version } = JSON.parse(read(join(ROOT, 'package.json')))
    t.match(parse(read(join(CHART, 'Chart.yaml'))), { version, appVersion: version })
  })
})

/** Whether the pod may run where only restricted ones may, on OpenShift too. */
function isRestricted(t: Test, { spec, annotations }: Pod): void {
  const seccompProfile = { type: 'RuntimeDefault' }
  t.strictSame(spec.securityContext, { runAsNonRoot: true, seccompProfile })
  t.equal(annotations['openshift.io/required-scc'], 'restricted-v2')
  for (const { securityContext } of spec.containers)
    t.strictSame(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
}

const program = createProgram({})

/** Whether the program, which is the image's entry point, takes the arguments. */
function isRunnable(t: Test, { args, command, image, resources }: Loose): void {
  const [name = '', ...rest] = args as readonly string[]
  // The baseline is meant where no system is named.
  const systems = rest.filter((arg) => !arg.startsWith('--'))
  const flags = rest.slice(systems.length)
  t.equal(command, undefined)
  t.match(image, /^\S+[:@]\S+$/)
  t.ok(resources.requests.memory)
  const known = [name, ...systems].reduce(
    (parent, name) => parent.commands.find((one) => one.name() === name) ?? new Command('none'),
    program,
  )
  for (const text of flags) {
    const [, flag, value = ''] = /^(--[a-z-]+)=(.+)$/s.exec(text) ?? []
    const option = known.options.find(({ long }) => long === flag)
    t.ok(option, `${name} ${systems.join(' ')} ${text}`)
    t.doesNotThrow(() => option?.parseArg?.(value, undefined), text)
  }
}

/** An object without what the order of names means nothing in. */
const inOrder = (object: unknown) =>
  JSON.parse(JSON.stringify(object), (key, value) =>
    key === 'resourceNames' ? value.sort() : value,
  )
