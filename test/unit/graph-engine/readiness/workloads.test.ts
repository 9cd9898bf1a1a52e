import t from 'tap'
import { readinessOf } from '../../../../src/shared/graph-engine/readiness/readiness.ts'
import { START } from '../objects.ts'
import { condition, liveObject } from './kinds.ts'

type Row = readonly [behaviour: string, content: object, state: string, message: string | RegExp]

const check = (apiVersion: string, kind: string, rows: readonly Row[]) =>
  t.test(kind, async (t) => {
    for (const [behaviour, content, state, message] of rows) {
      const found = readinessOf(liveObject({ apiVersion, kind, ...content }), START + 60_000)
      t.equal(found.state, state, behaviour)
      t.match(found.message, message, `${behaviour}: message`)
    }
  })

const AVAILABLE = condition('Available', 'True', 'MinimumReplicasAvailable')
const ROLLED_OUT = condition('Progressing', 'True', 'NewReplicaSetAvailable')
const DEADLINE = { progressDeadlineSeconds: 600 }

const deploymentStatus = (counts: object, ...conditions: object[]) => ({
  observedGeneration: 2,
  replicas: 3,
  updatedReplicas: 3,
  availableReplicas: 3,
  readyReplicas: 3,
  ...counts,
  conditions,
})

check('apps/v1', 'Deployment', [
  ['is not ready without a status', { spec: { replicas: 3 } }, 'InProgress', /not seen it/],
  [
    'with no replicas wanted waits for its controller all the same',
    { spec: { replicas: 0, ...DEADLINE }, status: {} },
    'InProgress',
    /not seen it/,
  ],
  [
    'is judged by the generation that was observed',
    {
      spec: { replicas: 3 },
      status: { ...deploymentStatus({}, AVAILABLE), observedGeneration: 1 },
    },
    'InProgress',
    'its controller has seen generation 1 and not yet 2',
  ],
  [
    'creates its replicas',
    { spec: { replicas: 3 }, status: deploymentStatus({ replicas: 2 }) },
    'InProgress',
    'replicas: 2/3',
  ],
  [
    'wants one replica where it does not say',
    { spec: {}, status: deploymentStatus({ replicas: 0 }) },
    'InProgress',
    'replicas: 0/1',
  ],
  [
    'updates its replicas',
    { spec: { replicas: 3 }, status: deploymentStatus({ updatedReplicas: 1 }) },
    'InProgress',
    'updated replicas: 1/3',
  ],
  [
    'has replicas of before',
    { spec: { replicas: 3 }, status: deploymentStatus({ replicas: 5 }) },
    'InProgress',
    'replicas of before still to go: 2',
  ],
  [
    'has replicas that are not available',
    { spec: { replicas: 3 }, status: deploymentStatus({ availableReplicas: 1 }) },
    'InProgress',
    'available replicas: 1/3',
  ],
  [
    'has replicas that are not ready',
    { spec: { replicas: 3 }, status: deploymentStatus({ readyReplicas: 2 }) },
    'InProgress',
    'ready replicas: 2/3',
  ],
  [
    'says nothing of progress, where it has a deadline for it',
    { spec: { replicas: 3, ...DEADLINE }, status: deploymentStatus({}, AVAILABLE) },
    'InProgress',
    'has not rolled out yet',
  ],
  [
    'is still progressing',
    {
      spec: { replicas: 3, ...DEADLINE },
      status: deploymentStatus(
        {},
        AVAILABLE,
        condition('Progressing', 'True', 'ReplicaSetUpdated'),
      ),
    },
    'InProgress',
    'Progressing=True (ReplicaSetUpdated)',
  ],
  [
    'is not available',
    {
      spec: { replicas: 3, ...DEADLINE },
      status: deploymentStatus(
        {},
        condition('Available', 'False', 'TooFew', 'too few'),
        ROLLED_OUT,
      ),
    },
    'InProgress',
    'Available=False (TooFew): too few',
  ],
  [
    'without a word of being available',
    { spec: { replicas: 3 }, status: deploymentStatus({}) },
    'InProgress',
    'is not available yet',
  ],
  [
    'has failed when its deadline passed',
    {
      spec: { replicas: 3, ...DEADLINE },
      status: deploymentStatus(
        { availableReplicas: 0 },
        condition('Progressing', 'False', 'ProgressDeadlineExceeded', 'timed out'),
      ),
    },
    'Failed',
    'Progressing=False (ProgressDeadlineExceeded): timed out',
  ],
  [
    'is ready',
    { spec: { replicas: 3, ...DEADLINE }, status: deploymentStatus({}, AVAILABLE, ROLLED_OUT) },
    'Ready',
    'available replicas: 3/3',
  ],
  [
    'is ready without a deadline',
    { spec: { replicas: 3 }, status: deploymentStatus({}, AVAILABLE) },
    'Ready',
    'available replicas: 3/3',
  ],
])

const replicaSetStatus = (counts: object) => ({
  observedGeneration: 2,
  replicas: 2,
  fullyLabeledReplicas: 2,
  availableReplicas: 2,
  readyReplicas: 2,
  ...counts,
})

check('apps/v1', 'ReplicaSet', [
  ['is not ready without a status', { spec: { replicas: 2 } }, 'InProgress', /not seen it/],
  [
    'cannot create pods',
    {
      spec: { replicas: 2 },
      status: { conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'quota')] },
    },
    'InProgress',
    'ReplicaFailure=True (FailedCreate): quota',
  ],
  [
    'has unlabelled pods',
    { spec: { replicas: 2 }, status: replicaSetStatus({ fullyLabeledReplicas: 1 }) },
    'InProgress',
    'labelled replicas: 1/2',
  ],
  [
    'has pods too many',
    { spec: { replicas: 1 }, status: replicaSetStatus({}) },
    'InProgress',
    /still to go: 1/,
  ],
  ['is ready', { spec: { replicas: 2 }, status: replicaSetStatus({}) }, 'Ready', /2\/2/],
])

const statefulSetStatus = (more: object) => ({
  observedGeneration: 2,
  replicas: 3,
  readyReplicas: 3,
  currentReplicas: 3,
  updatedReplicas: 3,
  currentRevision: 'r1',
  updateRevision: 'r1',
  ...more,
})

const partition = (number: number) => ({
  replicas: 3,
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: number } },
})

check('apps/v1', 'StatefulSet', [
  ['is not ready without a status', { spec: { replicas: 3 } }, 'InProgress', /not seen it/],
  [
    'is updated by whoever deletes pods',
    { spec: { replicas: 3, updateStrategy: { type: 'OnDelete' } }, status: {} },
    'Ready',
    /deleted/,
  ],
  [
    'starts one pod after the other',
    { spec: { replicas: 3 }, status: statefulSetStatus({ replicas: 1 }) },
    'InProgress',
    'replicas: 1/3',
  ],
  [
    'has pods that are not ready',
    { spec: { replicas: 3 }, status: statefulSetStatus({ readyReplicas: 2 }) },
    'InProgress',
    'ready replicas: 2/3',
  ],
  [
    'has pods too many',
    { spec: { replicas: 2 }, status: statefulSetStatus({}) },
    'InProgress',
    /still to go: 1/,
  ],
  [
    'rolls out',
    {
      spec: { replicas: 3 },
      status: statefulSetStatus({ updateRevision: 'r2', updatedReplicas: 1 }),
    },
    'InProgress',
    'updated replicas: 1/3',
  ],
  [
    'has replicas that are not current',
    { spec: { replicas: 3 }, status: statefulSetStatus({ currentReplicas: 2 }) },
    'InProgress',
    'current replicas: 2/3',
  ],
  [
    'rolls out beyond its partition',
    { spec: partition(1), status: statefulSetStatus({ updatedReplicas: 1, updateRevision: 'r2' }) },
    'InProgress',
    'updated replicas: 1/2',
  ],
  [
    'is ready when all beyond its partition is new',
    { spec: partition(1), status: statefulSetStatus({ updatedReplicas: 2, updateRevision: 'r2' }) },
    'Ready',
    'ready replicas: 3/3',
  ],
  ['is ready', { spec: { replicas: 3 }, status: statefulSetStatus({}) }, 'Ready', /3\/3/],
])

const daemonSetStatus = (more: object) => ({
  observedGeneration: 2,
  desiredNumberScheduled: 4,
  currentNumberScheduled: 4,
  updatedNumberScheduled: 4,
  numberAvailable: 4,
  numberReady: 4,
  ...more,
})

check('apps/v1', 'DaemonSet', [
  ['is not ready without a status', {}, 'InProgress', /not seen it/],
  [
    'needs its generation observed',
    { status: { desiredNumberScheduled: 0 } },
    'InProgress',
    /not seen it/,
  ],
  [
    'schedules',
    { status: daemonSetStatus({ currentNumberScheduled: 1 }) },
    'InProgress',
    'scheduled pods: 1/4',
  ],
  [
    'updates',
    { status: daemonSetStatus({ updatedNumberScheduled: 2 }) },
    'InProgress',
    'updated pods: 2/4',
  ],
  [
    'waits for pods',
    { status: daemonSetStatus({ numberAvailable: 3 }) },
    'InProgress',
    'available pods: 3/4',
  ],
  [
    'waits for readiness',
    { status: daemonSetStatus({ numberReady: 3 }) },
    'InProgress',
    'ready pods: 3/4',
  ],
  ['is ready', { status: daemonSetStatus({}) }, 'Ready', /4\/4/],
])

check('policy/v1', 'PodDisruptionBudget', [
  ['is not ready before it was observed', {}, 'InProgress', /not seen it/],
  ['is ready once it was', { status: { observedGeneration: 2 } }, 'Ready', /seen it/],
])
