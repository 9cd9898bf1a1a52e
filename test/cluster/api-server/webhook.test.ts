import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { send } from '../../../tools/control-plane/request.ts'
import { auditedOfAll } from '../harness/audit.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, MUTATING, PCI, STATE, VALIDATING } from '../harness/objects.ts'
import { ownProgram } from '../harness/program.ts'
import { run } from '../harness/run.ts'
import { PATIENCE_S } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'

const PRODUCT = 'virt-platform-autopilot'
const CHECK = ['nodehealthcheck', 'virt-node-health-check']
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
const AUTHORITY = `${SECRETS}/${PRODUCT}-webhook-ca`
const SERVING = `${SECRETS}/${PRODUCT}-webhook-tls`
const MACHINE_CONFIGS = '/apis/machineconfiguration.openshift.io/v1/machineconfigs'
const SWAP_EDIT = [
  'machineconfig/90-worker-swap-online',
  '--type=merge',
  '--patch={"spec":{"config":{"systemd":{"units":[]}}}}',
]
const edit = (minHealthy: string) => [
  'patch',
  ...CHECK,
  '--type=merge',
  `--patch=${JSON.stringify({ spec: { minHealthy } })}`,
]

const ANNOTATE = [
  'annotate',
  'hyperconverged',
  '-n',
  'openshift-cnv',
  'kubevirt-hyperconverged',
  '--overwrite',
]

t.test('the webhook on the cluster', async (t) => {
  const cluster = await autopilotCluster(t, {
    isAudited: true,
    reconcilerFlags: ['--resync=500ms'],
  })
  const { autopilot, read, untilCompared, untilEvent, metric } = cluster
  const alice = cluster.person('alice')

  await t.test('is trusted by certificates that it cannot issue itself', async (t) => {
    const [authority, serving] = await Promise.all([AUTHORITY, SERVING].map(read))
    t.equal(authority.type, 'kubernetes.io/tls')
    t.equal(serving.type, 'kubernetes.io/tls')
    t.same(Object.keys(serving.data).sort(), ['ca.crt', 'tls.crt', 'tls.key'])
    t.not(serving.data['tls.key'], authority.data['tls.key'])
    for (const path of [MUTATING, VALIDATING]) {
      const [{ clientConfig }] = (await read(path)).webhooks
      t.equal(clientConfig.caBundle, serving.data['ca.crt'])
      t.match(clientConfig.url, autopilot.webhookUrl)
    }
  })

  const POD = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'intruder' },
    spec: { containers: [{ name: 'main', image: 'main' }] },
  }
  const MACHINE_CONFIG = {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name: '99-foreign' },
    spec: {},
  }
  const apply = (name: string) => `${MACHINE_CONFIGS}/${name}?fieldManager=${PRODUCT}&dryRun=All`
  const FORBIDDEN = {
    [`${PRODUCT}-webhook`]: [
      ['GET', AUTHORITY],
      ['GET', SECRETS],
      ['GET', HCO],
      ['POST', '/api/v1/namespaces/default/pods', POD],
      ['PATCH', STATE, { data: {} }],
      ['PATCH', HCO, { spec: {} }],
      ['DELETE', MUTATING],
    ],
    [`${PRODUCT}-reconciler`]: [
      ['GET', SECRETS],
      ['GET', '/api/v1/secrets'],
      ['POST', '/api/v1/namespaces/default/pods', POD],
      ['POST', MACHINE_CONFIGS, MACHINE_CONFIG],
      ['PATCH', apply('99-foreign'), MACHINE_CONFIG],
      ['DELETE', PCI],
      ['DELETE', HCO],
      ['PATCH', `/apis/rbac.authorization.k8s.io/v1/clusterroles/${PRODUCT}-reconciler`, {}],
    ],
  } as const
  for (const [account, requests] of Object.entries(FORBIDDEN)) {
    await t.test(`${account} may not do what it need not`, async (t) => {
      const file = join(cluster.dataDir, 'autopilot', `kubeconfig-${account}`)
      const { token } = JSON.parse(readFileSync(file, 'utf8')).users[0].user
      for (const [method, path, body] of requests) {
        const isApply = path.includes('fieldManager')
        const contentType = isApply
          ? 'application/apply-patch+yaml'
          : 'application/merge-patch+json'
        const { status } = await send(cluster.url + path, {
          method,
          ca: cluster.ca,
          token,
          body,
          ...(method === 'PATCH' && { contentType }),
        })
        t.equal(status, 403, `${method} ${path}`)
      }
    })
  }

  await t.test('is registered for exactly the objects of the catalog', async (t) => {
    const owner = await read(
      `/apis/rbac.authorization.k8s.io/v1/clusterroles/${PRODUCT}-reconciler`,
    )
    for (const [path, operations] of [
      [MUTATING, ['CREATE', 'UPDATE']],
      [VALIDATING, ['CREATE', 'UPDATE', 'DELETE']],
    ] as const) {
      const { metadata, webhooks } = await read(path)
      t.match(metadata.ownerReferences, [{ kind: 'ClusterRole', uid: owner.metadata.uid }])
      t.equal(webhooks.length, 1)
      const [webhook] = webhooks
      t.match(webhook, {
        failurePolicy: 'Ignore',
        matchPolicy: 'Equivalent',
        sideEffects: 'NoneOnDryRun',
        timeoutSeconds: PATIENCE_S,
      })
      for (const rule of webhook.rules) {
        t.same(rule.operations, operations)
        t.notMatch(JSON.stringify(rule), /\*/)
        t.notMatch(rule.resources.join(), '/', 'no subresource')
      }
      const resources = webhook.rules.flatMap((rule: Loose) => rule.resources)
      t.same(new Set(resources), new Set(ownProgram().catalog.map(({ object }) => object.resource)))
    }
  })

  await t.test('leaves its verdict in the audit log', async (t) => {
    await alice(edit('1%'))
    const annotationsOf = () =>
      auditedOfAll(cluster)
        .filter(
          ({ user, verb, objectRef }) =>
            user.username === 'alice' && verb === 'patch' && objectRef.name === CHECK[1],
        )
        .map(({ annotations }) => annotations)
    const [annotations] = await until('it is written', async () => {
      const found = annotationsOf()
      return found.length > 0 && found
    })
    const prefix = 'mutate.platform.kubevirt.io'
    t.match(annotations, {
      [`${prefix}/verdict`]: 'corrected',
      [`${prefix}/asset`]: 'node-health-standard',
      [`${prefix}/pointers`]: '/spec/minHealthy',
    })
  })

  await t.test('lets a write pass where the leader has another baseline', async (t) => {
    const disagreements = () =>
      metric('webhook', 'virt_platform_admission_requests_total', 'reason="Disagreement"')
    await autopilot.reconciler.stop()
    const baselines = JSON.parse((await read(STATE)).data['baselines.json'])
    const data = {
      'baselines.json': JSON.stringify({ ...baselines, 'node-health-standard': 'newer' }),
    }
    await cluster.admin('PATCH', STATE, { data }, 'application/merge-patch+json')
    await until('the webhook has read it', async () => (await alice(edit('2%'))).stderr === '')
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '2%')
    t.ok((await disagreements()) > 0)
    const swap = ['delete', 'machineconfig', '90-worker-swap-online']
    t.match(await alice(swap), { code: 1 }, 'what both agree on is still judged')

    autopilot.reconciler.start()
    await until('the leader heals it', async () => {
      return (await read(HEALTH_CHECK)).spec.minHealthy === '51%'
    })
    await until('both agree again', async () => {
      const state = JSON.parse((await read(STATE)).data['baselines.json'])
      return state['node-health-standard'] === baselines['node-health-standard']
    })
    await until('and edits are corrected', async () => (await alice(edit('3%'))).stderr !== '')
  })

  await t.test('what somebody deletes of its Secrets and the state is written again', async (t) => {
    for (const path of [AUTHORITY, SERVING, STATE]) {
      const { uid } = (await read(path)).metadata
      t.equal((await cluster.admin('DELETE', path)).status, 200, path)
      await until(`${path} is back`, async () => {
        const { status, body } = await cluster.admin<Loose>('GET', path)
        return status === 200 && body.metadata.uid !== uid
      })
    }
    await until('the registration trusts what serves', async () => {
      const [{ clientConfig }] = (await read(MUTATING)).webhooks
      return clientConfig.caBundle === (await read(SERVING)).data['ca.crt']
    })
    await until('writes are judged again', async () => {
      const { code } = await alice(['patch', ...SWAP_EDIT])
      return code !== 0
    })
  })

  await t.test('an edit of its registration is put back', async (t) => {
    const { kind } = await read(MUTATING)
    const patch = '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":30}]'
    await alice(['patch', kind, PRODUCT, '--type=json', `--patch=${patch}`])
    await until(
      'it is put back',
      async () => (await read(MUTATING)).webhooks[0].timeoutSeconds === PATIENCE_S,
    )
    t.equal((await read(MUTATING)).webhooks.length, 1)
  })

  await t.test('broken glass stays broken: what somebody deletes does not come back', async (t) => {
    const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']
    for (const kind of kinds) {
      t.match(await alice(['delete', kind, PRODUCT]), { code: 0 })
      await untilEvent('WebhookUnregistered', new RegExp(`deleted the ${kind}`))
    }
    // The API server itself hears of it a moment later.
    await until('nobody is asked any more', async () => {
      const { code, stderr } = await alice([...edit('4%'), '--dry-run=server'])
      return code === 0 && stderr === ''
    })
    t.match(await alice(edit('4%')), { code: 0, stderr: '' })
    await until('the reconciler heals', async () => {
      return (await read(HEALTH_CHECK)).spec.minHealthy === '51%'
    })
    await untilCompared('kubevirt-hyperconverged')
    t.same(await Promise.all([MUTATING, VALIDATING].map(read)), [undefined, undefined])
    t.equal((await cluster.events('WebhookUnregistered')).length, 2)
  })

  await t.test('unregister removes the registration, and may be repeated', async (t) => {
    // Neither a new leader nor time enough has ended the break glass; switching off and on does.
    const kindsIn = async (part: string) => Object.keys(JSON.parse((await read(STATE)).data[part]))
    t.match(await alice([...ANNOTATE, 'platform.kubevirt.io/autopilot=false']), { code: 0 })
    await until(
      'the leader misses neither',
      async () => (await kindsIn('unregistered.json')).length === 0,
    )
    t.match(await alice([...ANNOTATE, 'platform.kubevirt.io/autopilot-']), { code: 0 })
    for (const path of [MUTATING, VALIDATING])
      await until('it is registered again', () => read(path))
    // What it has yet to see is not missed: it would be registered once more.
    await until(
      'the leader has seen both',
      async () => (await kindsIn('registered.json')).length === 2,
    )
    const kubeconfig = cluster.kubeconfigFor({ name: 'alice', groups: ['platform-admins'] })
    for (const _time of ['once', 'again']) {
      const said = await run(['unregister', `--kubeconfig=${kubeconfig}`])
      t.match(said, { code: 0, stdout: 'the webhook configurations are gone\n', stderr: '' })
    }
    await untilCompared('kubevirt-hyperconverged')
    t.same(await Promise.all([MUTATING, VALIDATING].map(read)), [undefined, undefined])
  })
})
