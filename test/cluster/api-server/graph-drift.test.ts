import t from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { lostFields } from '../../../src/shared/graph-engine/drift.ts'
import { withMarks } from '../../../src/shared/graph-engine/ownership.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { MANAGER, NAMES, OWNER } from '../../unit/graph-engine/objects.ts'
import { testCluster } from '../harness/fixture.ts'

const POD = {
  metadata: { labels: { app: 'web' }, annotations: {} },
  spec: {
    tolerations: [],
    nodeSelector: {},
    volumes: [
      { name: 'cache', emptyDir: {} },
      { name: 'config', configMap: { name: 'web', items: [{ key: 'a', path: 'b' }] } },
    ],
    containers: [
      {
        name: 'app',
        image: 'registry.example.com/app:1',
        env: [
          { name: 'EMPTY', value: '' },
          { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        ],
        ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }],
        resources: { limits: { cpu: '1000m', memory: '1024Mi' } },
        volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
        readinessProbe: { httpGet: { path: '/', port: 80 } },
        securityContext: { capabilities: { drop: ['ALL'] } },
      },
    ],
  },
}

const SELECTOR = { matchLabels: { app: 'web' } }

interface Case {
  readonly apiVersion: string
  readonly kind: string
  readonly resource: string
  readonly content: object
  /** What somebody changes by a merge patch, and what we lose by it. */
  readonly change: object
  readonly lost: readonly string[]
}

const CASES: readonly Case[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    resource: 'deployments',
    content: { spec: { replicas: 2, paused: null, selector: SELECTOR, template: POD } },
    change: { spec: { replicas: 5 } },
    lost: ['/spec/replicas'],
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    resource: 'statefulsets',
    content: {
      spec: {
        serviceName: 'web',
        selector: SELECTOR,
        template: POD,
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '1024Mi' } },
            },
          },
        ],
      },
    },
    change: { spec: { template: { metadata: { labels: { extra: 'x' } } } } },
    lost: [],
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    resource: 'services',
    content: {
      spec: {
        selector: { app: 'web' },
        ports: [
          { port: 80, targetPort: 8080 },
          { port: 53, protocol: 'UDP', name: 'dns' },
        ].map((port, index) => ({ name: `p${index}`, ...port })),
      },
    },
    change: { spec: { selector: { app: 'other' } } },
    lost: ['/spec/selector'],
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    resource: 'networkpolicies',
    content: {
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }], policyTypes: ['Ingress'] },
    },
    change: { spec: { ingress: [] } },
    lost: ['/spec/ingress'],
  },
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    resource: 'resourcequotas',
    content: { spec: { hard: { 'requests.cpu': '10000m', pods: '50' } } },
    change: { spec: { hard: { pods: '60' } } },
    lost: ['/spec/hard/pods'],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    resource: 'roles',
    content: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
    change: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete'] }] },
    lost: ['/rules'],
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    resource: 'configmaps',
    content: { data: { a: '1', b_c: 'x' } },
    change: { data: { b_c: null }, metadata: { labels: { app: 'x', [NAMES.ownerLabel]: null } } },
    lost: ['/data/b_c', '/metadata/labels'],
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    resource: 'cronjobs',
    content: {
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: {
          spec: { template: { ...POD, spec: { ...POD.spec, restartPolicy: 'Never' } } },
        },
      },
    },
    change: { spec: { suspend: true, schedule: '0 0 2 1 *' } },
    lost: ['/spec/schedule'],
  },
]

t.test('drift, as the API server records it', async (t) => {
  const cluster = await testCluster(t, { samples: false })

  for (const { apiVersion, kind, resource, content, change, lost } of CASES) {
    await t.test(kind, async (t) => {
      const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
      const path = `${root}/namespaces/default/${resource}/web`
      const object: KubeObject = {
        apiVersion,
        kind,
        metadata: { namespace: 'default', name: 'web', labels: { app: 'web' } },
        ...content,
      }
      const desired = withMarks(object, OWNER, NAMES, sha256)
      const apply = async (manager: string, body: object) => {
        const query = `fieldManager=${encodeURIComponent(manager)}&force=true&fieldValidation=Strict`
        const type = 'application/apply-patch+yaml'
        const answer = await cluster.admin('PATCH', `${path}?${query}`, body, type)
        t.ok(answer.status < 300, JSON.stringify(answer.body))
      }
      const patch = (body: object) =>
        cluster.admin('PATCH', `${path}?fieldManager=other`, body, 'application/merge-patch+json')
      const found = async () => {
        const { body } = await cluster.admin<KubeObject>('GET', path)
        return lostFields(desired, body, MANAGER)
      }

      await apply(MANAGER, desired)
      t.same(await found(), [], 'none after an apply')
      await patch({ metadata: { labels: { more: 'x' }, annotations: { more: 'x' } } })
      t.same(await found(), [], 'none where another adds something')
      await patch(change)
      t.same((await found()).toSorted(), lost.toSorted(), 'what another changed')
      await apply(MANAGER, desired)
      t.same(await found(), [], 'none once it is applied again')
      // Another who forces the same on it takes only what the server wrote otherwise than it was sent.
      await apply('other', object)
      const taken = await found()
      t.ok(taken.length === 0 || kind !== 'ConfigMap', taken.join())
      await apply(MANAGER, desired)
      t.same(await found(), [], 'none after another stated the same')
      await patch({ metadata: { managedFields: [{}] } })
      t.same(await found(), [''], 'all where the owners were wiped out')
      await apply(MANAGER, desired)
      t.same(await found(), [], 'none after an apply over it')
    })
  }

  await t.test('a subresource', async (t) => {
    const path = '/apis/apps/v1/namespaces/default/deployments/web'
    await cluster.admin(
      'PATCH',
      `${path}/scale?fieldManager=scaler`,
      { spec: { replicas: 7 } },
      'application/merge-patch+json',
    )
    const { body } = await cluster.admin<KubeObject>('GET', path)
    const content = CASES[0]?.content
    const metadata = { namespace: 'default', name: 'web' }
    const object: KubeObject = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, ...content }
    t.same(lostFields(object, body, MANAGER), ['/spec/replicas'])
  })
})
