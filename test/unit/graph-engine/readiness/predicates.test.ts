import t from 'tap'
import type { Predicate } from '../../../../src/shared/graph-engine/node.ts'
import { nodeReadiness } from '../../../../src/shared/graph-engine/readiness/predicates.ts'
import { START, timestamp } from '../objects.ts'
import { condition, liveObject, type Sketch } from './kinds.ts'

const SYNCED: Predicate = {
  type: 'ConditionMatch',
  conditionType: 'Synced',
  conditionStatus: 'True',
}

const widget = (...conditions: object[]): Sketch => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  status: { conditions },
})

const deployment = (...conditions: object[]): Sketch => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  spec: { replicas: 3 },
  status: { observedGeneration: 2, availableReplicas: 1, conditions },
})

type Row = readonly [
  behaviour: string,
  object: Sketch,
  predicates: readonly Predicate[],
  state: string,
  message: string | RegExp,
]

const rows: readonly Row[] = [
  [
    'none: the rules of the kind',
    widget(condition('Ready', 'False')),
    [],
    'InProgress',
    'Ready=False',
  ],
  [
    'Exists asks for nothing more',
    widget(condition('Ready', 'False')),
    [{ type: 'Exists' }],
    'Ready',
    /hold/,
  ],
  ['a condition that matches', widget(condition('Synced', 'True')), [SYNCED], 'Ready', /hold/],
  ['a condition that is absent', widget(), [SYNCED], 'InProgress', 'has no condition Synced'],
  [
    'a condition that does not match',
    widget(condition('Synced', 'False', 'Late', 'not yet')),
    [SYNCED],
    'InProgress',
    'Synced=False (Late): not yet',
  ],
  [
    'a condition is to be True where nobody says what',
    widget(condition('Synced', 'Unknown')),
    [{ type: 'ConditionMatch', conditionType: 'Synced' }],
    'InProgress',
    'Synced=Unknown',
  ],
  [
    'a condition that nobody named',
    widget(condition('Synced', 'True')),
    [{ type: 'ConditionMatch' }],
    'InProgress',
    /has no condition/,
  ],
  [
    'a condition that must be False',
    widget(condition('Degraded', 'False')),
    [{ type: 'ConditionMatch', conditionType: 'Degraded', conditionStatus: 'False' }],
    'Ready',
    /hold/,
  ],
  [
    'a condition of an earlier generation',
    widget({ ...condition('Synced', 'True'), observedGeneration: 1 }),
    [SYNCED],
    'InProgress',
    /earlier generation/,
  ],
  [
    'a status of an earlier generation',
    {
      ...widget(condition('Synced', 'True')),
      status: { observedGeneration: 1, conditions: [condition('Synced', 'True')] },
    },
    [SYNCED],
    'InProgress',
    /generation 1 and not yet 2/,
  ],
  [
    'all of them must hold',
    widget(condition('Synced', 'True')),
    [SYNCED, { ...SYNCED, conditionType: 'Ready' }],
    'InProgress',
    'has no condition Ready',
  ],
  [
    'a Deployment may be available before all of it is',
    deployment(condition('Available', 'True')),
    [{ type: 'DeploymentAvailable' }],
    'Ready',
    /hold/,
  ],
  [
    'a Deployment that is not available',
    deployment(condition('Available', 'False', 'TooFew')),
    [{ type: 'DeploymentAvailable' }],
    'InProgress',
    'Available=False (TooFew)',
  ],
  ['no Deployment', widget(), [{ type: 'DeploymentAvailable' }], 'InProgress', 'is no Deployment'],
  [
    'what its kind calls failed is',
    deployment(condition('Progressing', 'False', 'ProgressDeadlineExceeded', 'late')),
    [{ type: 'DeploymentAvailable' }],
    'Failed',
    /has no condition Available; Progressing=False/,
  ],
  [
    'an object that is being deleted is not ready by any',
    { ...widget(), metadata: { deletionTimestamp: timestamp(START) } },
    [{ type: 'Exists' }],
    'Terminating',
    /being deleted/,
  ],
]

t.test('predicates', async (t) => {
  for (const [behaviour, object, predicates, state, message] of rows) {
    const found = nodeReadiness(liveObject(object), predicates, START, START + 60_000)
    t.equal(found.state, state, behaviour)
    t.match(found.message, message, `${behaviour}: message`)
  }
})

t.test('each predicate has its own time, which begins with the apply', async (t) => {
  const live = liveObject(widget())
  const predicates = [
    { ...SYNCED, timeout: 30 },
    { ...SYNCED, conditionType: 'Ready', timeout: 20 },
  ]
  const at = (ms: number) => nodeReadiness(live, predicates, START, START + ms)
  t.match(at(10_000), { state: 'InProgress', lookAgainAt: START + 20_000 })
  t.match(at(20_000), { state: 'Failed', message: 'not ready after 20 s: has no condition Ready' })
  t.match(at(40_000), { state: 'Failed', message: 'not ready after 30 s: has no condition Synced' })
  const late = liveObject(widget(condition('Synced', 'True'), condition('Ready', 'True')))
  t.equal(nodeReadiness(late, predicates, START, START + 90_000).state, 'Ready', 'better late')
  t.equal(
    nodeReadiness(live, predicates, undefined, START + 90_000).state,
    'InProgress',
    'nobody knows when it was applied',
  )
  t.equal(
    nodeReadiness(live, [{ ...SYNCED, timeout: 0 }], START, START + 9e9).state,
    'InProgress',
    'no timeout',
  )
})

t.test('looks again when its kind may be called failed', async (t) => {
  const pod = liveObject({
    apiVersion: 'v1',
    kind: 'Pod',
    status: {
      phase: 'Pending',
      conditions: [condition('PodScheduled', 'False', 'Unschedulable')],
    },
  })
  const found = nodeReadiness(pod, [SYNCED], START, START + 1_000)
  t.match(found, { state: 'InProgress', lookAgainAt: START + 15_000 })
})
