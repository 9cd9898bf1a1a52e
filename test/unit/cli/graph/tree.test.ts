import t from 'tap'
import { treeOf } from '../../../../src/cli/graph/online/tree.ts'
import { FORMATS } from '../../../../src/cli/graph/online/tree-formats.ts'
import type { ResourceGraph } from '../../../../src/shared/graph/resource-graph.ts'
import type { Transform } from '../../../../src/shared/graph/transform.ts'

const TYPE = { apiVersion: 'platform.pequod.io/v1alpha1' } as const
const NOW = '2026-01-01T00:00:00Z'

const transform = (ready: object | undefined, generation = 2): Transform => ({
  ...TYPE,
  kind: 'Transform',
  metadata: { name: 'shop', namespace: 'web', generation },
  spec: { cueRef: { type: 'embedded', ref: 'webservice' }, input: {} },
  ...(ready && {
    status: {
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'Executing',
          message: '',
          observedGeneration: 2,
          lastTransitionTime: NOW,
          ...ready,
        },
      ],
    },
  }),
})

const node = (id: string, ...dependsOn: readonly string[]) => ({
  id,
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: id, namespace: 'web' } },
  ...(dependsOn.length > 0 && { dependsOn }),
})

const graph = (
  nodes: ResourceGraph['spec']['nodes'],
  status: ResourceGraph['status'] = {},
): ResourceGraph => ({
  ...TYPE,
  kind: 'ResourceGraph',
  metadata: { name: 'shop', namespace: 'web' },
  spec: {
    sourceRef: { ...TYPE, kind: 'Transform', name: 'shop', uid: 'u' },
    metadata: { name: 'shop', version: 'v1alpha1', renderHash: 'h', renderedAt: NOW },
    deletionPolicy: 'Delete',
    nodes,
  },
  status,
})

t.test('each node stands below what it waits for last, with its state and why', async (t) => {
  const nodes = [
    node('web', 'config', 'db'),
    node('config'),
    node('data'),
    node('db', 'data'),
    node('job', 'db'),
  ]
  const found = treeOf(
    transform({ message: 'StatefulSet web/db: 0 of 1' }),
    graph(nodes, {
      nodeStatus: {
        config: { phase: 'Ready' },
        data: { phase: 'Ready' },
        db: { phase: 'WaitingReady', readyDetails: '0 of 1 replicas' },
        web: { phase: 'Pending', readyDetails: 'waits for ConfigMap web/db' },
        job: { phase: 'Error', lastError: 'forbidden\nand more' },
      },
      inventory: [
        {
          id: 'old',
          apiVersion: 'v1',
          kind: 'Service',
          namespace: 'web',
          name: 'old',
          hash: '',
          state: 'Pruned',
        },
        {
          id: 'config',
          apiVersion: 'v1',
          kind: 'ConfigMap',
          namespace: 'web',
          name: 'config',
          hash: '',
          state: 'Applied',
        },
      ],
    }),
  )
  t.same(FORMATS.text(found).split('\n'), [
    'Transform web/shop: not ready (Executing): StatefulSet web/db: 0 of 1',
    '├─ config     Ready         ConfigMap web/config',
    '└─ data       Ready         ConfigMap web/data',
    '   └─ db      WaitingReady  ConfigMap web/db: 0 of 1 replicas',
    '      ├─ web  Pending       ConfigMap web/web (after config, db): waits for ConfigMap web/db',
    '      └─ job  Error         ConfigMap web/job: forbidden\\u000aand more',
    '',
    'No longer in the graph:',
    '  Service web/old (old): Pruned',
    '',
  ])
  const { leaving, nodes: shown } = JSON.parse(FORMATS.json(found))
  t.same(leaving, [
    {
      id: 'old',
      state: 'Pruned',
      apiVersion: 'v1',
      kind: 'Service',
      namespace: 'web',
      name: 'old',
    },
  ])
  t.match(shown[0], {
    id: 'web',
    object: { kind: 'ConfigMap', name: 'web' },
    dependsOn: ['config', 'db'],
    phase: 'Pending',
  })
})

t.test('what the reconciler has not seen yet is not taken for ready', async (t) => {
  const ready = { status: 'True', reason: 'Ready', message: '1 objects are ready' }
  t.equal(
    FORMATS.text(treeOf(transform(ready), undefined)),
    'Transform web/shop: Ready: 1 objects are ready\n',
  )
  for (const found of [
    treeOf(transform(ready, 3), undefined),
    treeOf(transform(undefined), undefined),
  ]) {
    t.equal(found.transform.ready, 'Unknown')
    t.match(
      FORMATS.text(found),
      /not ready \(Progressing\): the reconciler has not looked at it yet\n$/,
    )
  }
})

t.test('a circle, which only an edited graph can hold, is shown as well', async (t) => {
  const found = treeOf(transform(undefined), graph([node('a', 'b'), node('b', 'a'), node('c')]))
  t.match(FORMATS.text(found), /├─ a {2}Pending.*\n├─ b .*\n└─ c /)
})
