import { join } from 'node:path'
import t from 'tap'

import { install } from '../../../tools/control-plane/install.ts'
import { loadManifests, manifestsIn } from '../../../tools/control-plane/manifests.ts'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { HEALTH_CHECK, HYPERCONVERGED } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const FENCING = HEALTH_CHECK.replace(/[^/]+$/, 'virt-node-health-check-fencing')
const TEMPLATE =
  '/apis/fence-agents-remediation.medik8s.io/v1alpha1/namespaces/openshift-workload-availability/fenceagentsremediationtemplates/fenceagentsremediationtemplate-default'
const PLACE = 'openshift-workload-availability'
const KEY = 'platform.kubevirt.io/enable-fence-agents'
const ELSEWHERE = 'default'
const TEMPLATES = join(import.meta.dirname, '../../clusters/remediation.yaml')
const FOREIGN = join(import.meta.dirname, '../../clusters/foreign-remediation.yaml')
const WITH_SECRETS = join(import.meta.dirname, '../../clusters/definitions')

/** What operators from 0.7 on refuse: a template that does not say which controller a node has. */
const REFUSAL = 'mandatory parameters are missing'
const NEWER_OPERATOR = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'fence-agents-0.7' },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['fence-agents-remediation.medik8s.io'],
            apiVersions: ['v1alpha1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['fenceagentsremediationtemplates'],
          },
        ],
      },
      validations: [
        { expression: 'has(object.spec.template.spec.nodeparameters)', message: REFUSAL },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'fence-agents-0.7' },
    spec: { policyName: 'fence-agents-0.7', validationActions: ['Deny'] },
  },
]

const templateWith = (parameters: object) => ({
  apiVersion: 'fence-agents-remediation.medik8s.io/v1alpha1',
  kind: 'FenceAgentsRemediationTemplate',
  metadata: { name: 'fenceagentsremediationtemplate-default', namespace: PLACE },
  spec: {
    template: {
      spec: { agent: 'fence_ipmilan', sharedSecretName: 'bmc-credentials', ...parameters },
    },
  },
})
const OWN = { nodeparameters: { '--ip': { 'worker-0': '192.0.2.1' } }, retrycount: 9 }

t.test('fencing', async (t) => {
  const cluster = await autopilotCluster(t, {
    isOwn: true,
    reconcilerFlags: ['--resync=500ms'],
    isEarly: true,
    // What lives there is not needed here.
    only: ({ metadata }) => ![metadata.name, metadata.namespace].includes(PLACE),
  })
  const { read, untilEvent, untilCompared } = cluster
  const alice = cluster.person('alice')
  const annotate = (value: string, ...flags: readonly string[]) =>
    alice(['annotate', ...HYPERCONVERGED, '--overwrite', `${KEY}=${value}`, ...flags])

  await t.test('remediation waits for its template, wherever that comes to be', async (t) => {
    await untilEvent(
      'AssetSkipped',
      /^node-health-standard: waits until there is a SelfNodeRemediationTemplate/,
    )
    t.notOk(await read(HEALTH_CHECK))
    const templates = manifestsIn(TEMPLATES).map(({ metadata, ...template }) => ({
      ...template,
      metadata: { ...metadata, namespace: ELSEWHERE },
    }))
    await install(cluster, templates)
    const check = await until('the standard remediation is there', () => read(HEALTH_CHECK))
    t.equal(check.spec.remediationTemplate.namespace, ELSEWHERE)
  })

  await t.test("it gives way to somebody else's check of the same nodes", async () => {
    const [foreign] = manifestsIn(FOREIGN)
    if (!foreign) throw new Error(`${FOREIGN} has no check`)
    await install(cluster, [foreign])
    await until('it is gone', async () => (await read(HEALTH_CHECK)) === undefined)
    await untilEvent(
      'AssetPruned',
      /^node-health-standard: deleted: waits until no NodeHealthCheck but ours selects the nodes that ours does/,
    )
    await alice(['delete', 'nodehealthcheck', foreign.metadata.name])
    await until('it is back', () => read(HEALTH_CHECK))
  })

  await until(
    'the webhook judges',
    async () => (await annotate('true', '--dry-run=server')).code === 1,
  )

  await t.test('a switch is no name of a Secret', async (t) => {
    const { code, stderr } = await annotate('true')
    t.equal(code, 1)
    t.match(stderr, /enable-fence-agents must be the name of a Secret .*, not "true"/)
  })

  await t.test(
    'an operator that cannot take a Secret is told of, and remediation stays as it was',
    async (t) => {
      t.match(await annotate('bmc-credentials'), { code: 0 })
      await untilEvent('AssetSkipped', /offers \/spec\/template\/spec\/sharedSecretName$/)
      await untilCompared('virt-node-health-check')
      t.ok(await read(HEALTH_CHECK))
      t.notOk(await read(FENCING))
      t.notOk(await read(TEMPLATE))
    },
  )

  await t.test(
    'with one that can, fencing takes the place of the standard remediation',
    async (t) => {
      await install(cluster, loadManifests(WITH_SECRETS))
      await until('it is told what is missing', async () =>
        cluster.log('reconciler').includes('waits for fence-agents-template'),
      )
      t.ok(await read(HEALTH_CHECK), 'nothing is deleted before something else is there')
      t.notOk(await read(FENCING), 'nor is a check made that refers to nothing')
      await install(cluster, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: PLACE } }])
      await install(cluster, NEWER_OPERATOR)
      const create = (template: object) =>
        alice(['create', '-f', '-', '--dry-run=server'], { input: JSON.stringify(template) })
      await until('an operator as 0.7 judges', async () =>
        (await create(templateWith({}))).stderr.includes(REFUSAL),
      )
      await untilEvent(
        'AssetSkipped',
        /^fence-agents-template: waits until somebody creates FenceAgentsRemediationTemplate openshift-workload-availability\/fenceagentsremediationtemplate-default$/,
      )
      t.ok(await read(HEALTH_CHECK), 'the standard check stays until then')
      await install(cluster, [templateWith(OWN)])
      const template = await until('it is kept', async () => {
        const found = await read(TEMPLATE)
        return found.spec.template.spec.sharedparameters && found
      })
      t.match(template.spec.template.spec, {
        ...OWN,
        sharedSecretName: 'bmc-credentials',
        remediationStrategy: 'OutOfServiceTaint',
      })
      const check = await until('its check is there', () => read(FENCING))
      t.equal(check.spec.remediationTemplate.name, template.metadata.name)
      await until('the other is gone', async () => (await read(HEALTH_CHECK)) === undefined)
      await untilEvent(
        'AssetPruned',
        /^node-health-standard: deleted: gives way to fence-agents-health-check$/,
      )
      t.notMatch(cluster.log('reconciler'), REFUSAL, 'nothing of ours was ever refused')
    },
  )

  await t.test('what the site knows of its controllers may be changed, and stays', async (t) => {
    const ip = { '--ip': { 'worker-0': '192.0.2.2' } }
    const patch = { spec: { template: { spec: { nodeparameters: ip, retrycount: 7 } } } }
    const { name, namespace } = (await read(TEMPLATE)).metadata
    const said = await alice([
      ...['patch', 'fenceagentsremediationtemplate', '-n', namespace, name],
      ...['--type=merge', `--patch=${JSON.stringify(patch)}`],
    ])
    t.match(said, { code: 0, stderr: '' })
    await untilCompared(name)
    t.match((await read(TEMPLATE)).spec, patch.spec)
  })

  await t.test('a fencing check that is left over keeps the standard one away', async (t) => {
    const disabled = 'platform.kubevirt.io/disabled-resources'
    const exclude = (text: string) =>
      alice(['annotate', ...HYPERCONVERGED, '--overwrite', `${disabled}${text}`])
    t.match(await exclude('=[fence-agents-health-check]'), { code: 0 })
    await untilEvent('AssetSkipped', /waits until fence-agents-health-check, .* is gone$/)
    t.ok(await read(FENCING))
    t.notOk(await read(HEALTH_CHECK))
    t.match(await exclude('-'), { code: 0 })
  })

  await t.test('without it the standard remediation comes back, alone', async (t) => {
    t.match(await annotate('false'), { code: 0 })
    await until('it is back', () => read(HEALTH_CHECK))
    await until('the other is gone', async () => (await read(FENCING)) === undefined)
    t.ok(await read(TEMPLATE), 'the template stays: nobody uses it')
  })
})
