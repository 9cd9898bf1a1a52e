import t from 'tap'
import { readinessOf } from '../../../../src/shared/graph-engine/readiness/readiness.ts'
import { START, timestamp } from '../objects.ts'
import { condition, liveObject, type Sketch } from './kinds.ts'

type Row = readonly [behaviour: string, object: Sketch, state: string, message: string | RegExp]

const of = (apiVersion: string, kind: string, content: object = {}): Sketch => ({
  apiVersion,
  kind,
  ...content,
})

const POD_PENDING = {
  status: {
    phase: 'Pending',
    conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes')],
  },
}

const rows: readonly Row[] = [
  ['a pod without phase', of('v1', 'Pod'), 'InProgress', 'is pending'],
  [
    'a pod that completed',
    of('v1', 'Pod', { status: { phase: 'Succeeded' } }),
    'Ready',
    'has completed',
  ],
  [
    'a pod that failed',
    of('v1', 'Pod', { status: { phase: 'Failed', message: 'evicted' } }),
    'Failed',
    'evicted',
  ],
  [
    'a pod that runs',
    of('v1', 'Pod', { status: { phase: 'Running' } }),
    'InProgress',
    /not ready yet/,
  ],
  [
    'a pod that is ready',
    of('v1', 'Pod', { status: { phase: 'Running', conditions: [condition('Ready', 'True')] } }),
    'Ready',
    'is ready',
  ],
  [
    'a pod that says why it is not',
    of('v1', 'Pod', {
      status: { phase: 'Running', conditions: [condition('Ready', 'False', 'ContainersNotReady')] },
    }),
    'InProgress',
    'Ready=False (ContainersNotReady)',
  ],
  [
    'a pod that crashes again and again',
    of('v1', 'Pod', {
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } },
          { name: 'side', state: { running: {} } },
        ],
      },
    }),
    'Failed',
    'containers that crash again and again: app',
  ],
  [
    'a pod that cannot be scheduled',
    of('v1', 'Pod', POD_PENDING),
    'Failed',
    'PodScheduled=False (Unschedulable): 0/3 nodes',
  ],
  [
    'a claim that is pending',
    of('v1', 'PersistentVolumeClaim', { status: { phase: 'Pending' } }),
    'InProgress',
    /not bound/,
  ],
  [
    'a claim that is bound',
    of('v1', 'PersistentVolumeClaim', { status: { phase: 'Bound' } }),
    'Ready',
    'is bound',
  ],
  [
    'a claim without volume',
    of('v1', 'PersistentVolumeClaim', { status: { phase: 'Lost' } }),
    'Failed',
    /lost/,
  ],
  ['a service', of('v1', 'Service', { spec: {} }), 'Ready', 'exists'],
  [
    'a load balancer',
    of('v1', 'Service', { spec: { type: 'LoadBalancer' } }),
    'InProgress',
    /cluster IP/,
  ],
  [
    'a load balancer with an address',
    of('v1', 'Service', { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } }),
    'Ready',
    'exists',
  ],
  ['a new namespace', of('v1', 'Namespace'), 'InProgress', /not active/],
  [
    'an active namespace',
    of('v1', 'Namespace', { status: { phase: 'Active' } }),
    'Ready',
    'is active',
  ],
  [
    'a quota that is not counted yet',
    of('v1', 'ResourceQuota', { spec: { hard: { pods: '1' } }, status: {} }),
    'InProgress',
    /not in force/,
  ],
  [
    'a quota in force',
    of('v1', 'ResourceQuota', { spec: { hard: { pods: '1' } }, status: { hard: { pods: '1' } } }),
    'Ready',
    'is in force',
  ],
  [
    'a ConfigMap at once',
    of('v1', 'ConfigMap', { metadata: { creationTimestamp: timestamp(START + 60_000) } }),
    'Ready',
    'exists',
  ],
  ['a role at once', of('rbac.authorization.k8s.io/v1', 'Role'), 'Ready', 'exists'],
  [
    'an ingress without address',
    of('networking.k8s.io/v1', 'Ingress', { status: {} }),
    'Ready',
    'exists',
  ],
  ['a job that waits', of('batch/v1', 'Job'), 'InProgress', /not started/],
  [
    'a job that runs',
    of('batch/v1', 'Job', { status: { startTime: timestamp(START), active: 1, failed: 2 } }),
    'InProgress',
    'pods active: 1, succeeded: 0, failed: 2',
  ],
  [
    'a job that is suspended',
    of('batch/v1', 'Job', { spec: { suspend: true } }),
    'InProgress',
    'is suspended',
  ],
  [
    'a job that completed',
    of('batch/v1', 'Job', {
      status: { succeeded: 1, conditions: [condition('Complete', 'True')] },
    }),
    'Ready',
    /has completed/,
  ],
  [
    'a job that failed',
    of('batch/v1', 'Job', {
      status: { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded', 'too often')] },
    }),
    'Failed',
    'Failed=True (BackoffLimitExceeded): too often',
  ],
  [
    'a new CRD',
    of('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
    'InProgress',
    /being installed/,
  ],
  [
    'a CRD that is installed',
    of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      status: { conditions: [condition('Established', 'False', 'Installing')] },
    }),
    'InProgress',
    /being installed/,
  ],
  [
    'a CRD that cannot be',
    of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      status: { conditions: [condition('Established', 'False', 'NotAccepted')] },
    }),
    'Failed',
    /NotAccepted/,
  ],
  [
    'a CRD whose names are taken',
    of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      status: {
        conditions: [condition('NamesAccepted', 'False', 'PluralConflict', '"x" is taken')],
      },
    }),
    'Failed',
    /PluralConflict/,
  ],
  [
    'a CRD in service',
    of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      status: {
        conditions: [condition('NamesAccepted', 'True'), condition('Established', 'True')],
      },
    }),
    'Ready',
    'is established',
  ],
  [
    'a new APIService',
    of('apiregistration.k8s.io/v1', 'APIService'),
    'InProgress',
    /not available/,
  ],
  [
    'an APIService without server',
    of('apiregistration.k8s.io/v1', 'APIService', {
      status: { conditions: [condition('Available', 'False', 'MissingEndpoints')] },
    }),
    'InProgress',
    /MissingEndpoints/,
  ],
  [
    'an APIService',
    of('apiregistration.k8s.io/v1', 'APIService', {
      status: { conditions: [condition('Available', 'True')] },
    }),
    'Ready',
    'is available',
  ],
  [
    'whatever is being deleted',
    of('v1', 'ConfigMap', {
      metadata: { deletionTimestamp: timestamp(START), finalizers: ['example.com/keep'] },
    }),
    'Terminating',
    'is being deleted since 2026-01-01T00:00:00Z (finalizers: example.com/keep)',
  ],
  [
    'a namespace that cannot go, with what is in it',
    of('v1', 'Namespace', {
      metadata: { deletionTimestamp: timestamp(START) },
      status: {
        phase: 'Terminating',
        conditions: [
          condition('NamespaceDeletionContentFailure', 'False'),
          condition('NamespaceContentRemaining', 'True', 'SomeResourcesRemain', 'pods has 1'),
        ],
      },
    }),
    'Terminating',
    /NamespaceContentRemaining=True \(SomeResourcesRemain\): pods has 1/,
  ],
]

t.test('kinds of Kubernetes itself', async (t) => {
  for (const [behaviour, object, state, message] of rows) {
    const found = readinessOf(liveObject(object), START + 60_000)
    t.equal(found.state, state, behaviour)
    t.match(found.message, message, `${behaviour}: message`)
  }
})

const custom = (status?: object, metadata: object = {}) =>
  of('example.com/v1', 'Widget', { metadata, ...(status && { status }) })

const customs: readonly Row[] = [
  [
    'by its condition Ready',
    custom({ conditions: [condition('Ready', 'True', 'Done')] }),
    'Ready',
    'Ready=True (Done)',
  ],
  [
    'with its own message while it is not',
    custom({ conditions: [condition('Ready', 'False', 'Waiting', 'for a disk')] }),
    'InProgress',
    'Ready=False (Waiting): for a disk',
  ],
  [
    'when nobody knows',
    custom({ conditions: [condition('Ready', 'Unknown')] }),
    'InProgress',
    'Ready=Unknown',
  ],
  [
    'by Available',
    custom({ conditions: [condition('Available', 'True')] }),
    'Ready',
    'Available=True',
  ],
  [
    'by Ready before Available',
    custom({ conditions: [condition('Available', 'True'), condition('Ready', 'False')] }),
    'InProgress',
    'Ready=False',
  ],
  [
    'never by a condition of an earlier generation',
    custom({ conditions: [{ ...condition('Ready', 'True'), observedGeneration: 1 }] }),
    'InProgress',
    'Ready=True, of an earlier generation',
  ],
  [
    'never by a status of an earlier generation',
    custom({ observedGeneration: 1, conditions: [condition('Ready', 'True')] }),
    'InProgress',
    'its controller has seen generation 1 and not yet 2',
  ],
  [
    'failed where it is stalled',
    custom({
      conditions: [
        condition('Stalled', 'True', 'NoRights', 'forbidden'),
        condition('Ready', 'True'),
      ],
    }),
    'Failed',
    'Stalled=True (NoRights): forbidden',
  ],
  [
    'not while it reconciles',
    custom({
      conditions: [condition('Reconciling', 'True', 'Progressing'), condition('Ready', 'True')],
    }),
    'InProgress',
    'Reconciling=True (Progressing)',
  ],
  ['by observedGeneration alone', custom({ observedGeneration: 2 }), 'Ready', /has seen it/],
  ['by age, and says so', custom(), 'Ready', 'exists; this kind does not tell whether it is ready'],
  [
    'not before its controller can have met it',
    custom(undefined, { creationTimestamp: timestamp(START + 59_000) }),
    'InProgress',
    'was just created and says nothing of itself yet',
  ],
  [
    'whatever its status is',
    custom({ conditions: 'none', observedGeneration: '2' }),
    'Ready',
    /exists/,
  ],
]

t.test('custom resources are ready', async (t) => {
  for (const [behaviour, object, state, message] of customs) {
    const found = readinessOf(liveObject(object), START + 60_000)
    t.equal(found.state, state, behaviour)
    t.match(found.message, message, `${behaviour}: message`)
  }
})

t.test('tells when time alone changes the verdict', async (t) => {
  const fresh = readinessOf(liveObject(custom()), START + 500)
  t.match(fresh, { state: 'InProgress', lookAgainAt: START + 2_000 })
  t.equal(readinessOf(liveObject(custom()), START + 2_000).state, 'Ready')
  const pod = liveObject(of('v1', 'Pod', POD_PENDING))
  t.match(readinessOf(pod, START + 1_000), { state: 'InProgress', lookAgainAt: START + 15_000 })
  t.equal(readinessOf(pod, START + 15_000).state, 'Failed')
})
