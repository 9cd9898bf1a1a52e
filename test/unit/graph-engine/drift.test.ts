import t from 'tap'
import type { KubeObject, ManagedFieldsEntry } from '../../../src/shared/engine/json/object.ts'
import { lostFields } from '../../../src/shared/graph-engine/drift.ts'
import { growth } from '../growth.ts'

const MANAGER = 'test:shop/web'

const DEPLOYMENT: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'shop', name: 'web', labels: { app: 'web' }, annotations: {} },
  spec: {
    replicas: 3,
    paused: null,
    template: {
      spec: {
        tolerations: [],
        nodeSelector: {},
        containers: [
          {
            name: 'app',
            image: 'app:1',
            resources: { limits: { cpu: '1000m' } },
            ports: [{ containerPort: 80 }],
          },
        ],
      },
    },
  },
}

const CONTAINER = {
  '.': {},
  'f:name': {},
  'f:image': {},
  'f:resources': { 'f:limits': { 'f:cpu': {} } },
  'f:ports': {
    'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
  },
}

const template = (container: object) => ({
  'f:spec': {
    'f:nodeSelector': {},
    'f:containers': { 'k:{"name":"side"}': { '.': {} }, 'k:{"name":"app"}': container },
  },
})

const spec = (more: object = {}) => ({
  'f:replicas': {},
  'f:template': template(CONTAINER),
  ...more,
})

const METADATA = { 'f:labels': { 'f:app': {} }, 'f:annotations': {} }

const entry = (fieldsV1: object, more: object = {}): ManagedFieldsEntry => ({
  manager: MANAGER,
  operation: 'Apply',
  fieldsV1: fieldsV1 as Readonly<Record<string, unknown>>,
  ...more,
})

const { 'f:image': _image, ...WITHOUT_IMAGE } = CONTAINER
const { 'f:replicas': _replicas, ...WITHOUT_REPLICAS } = spec()

const OWNED = { 'f:metadata': METADATA, 'f:spec': spec() }

const rows: readonly (readonly [
  behaviour: string,
  entries: ManagedFieldsEntry[],
  lost: string[],
])[] = [
  [
    'nothing, whatever the server makes of quantities, defaults, nulls and empty lists',
    [entry(OWNED)],
    [],
  ],
  [
    'a field that another took',
    [entry({ ...OWNED, 'f:spec': WITHOUT_REPLICAS })],
    ['/spec/replicas'],
  ],
  [
    'a field of an item in a list',
    [entry({ ...OWNED, 'f:spec': spec({ 'f:template': template(WITHOUT_IMAGE) }) })],
    ['/spec/template/spec/containers/0/image'],
  ],
  [
    'an item of a list',
    [
      entry({
        ...OWNED,
        'f:spec': spec({
          'f:template': {
            'f:spec': { 'f:nodeSelector': {}, 'f:containers': { 'k:{"name":"side"}': {} } },
          },
        }),
      }),
    ],
    ['/spec/template/spec/containers/0'],
  ],
  [
    'a label',
    [entry({ ...OWNED, 'f:metadata': { 'f:annotations': {}, 'f:labels': { 'f:other': {} } } })],
    ['/metadata/labels/app'],
  ],
  ['nothing of what is owned as one value', [entry({ ...OWNED, 'f:spec': {} })], []],
  ['all, where the owners were wiped out', [], ['']],
  ['all, where only others apply', [entry(OWNED, { manager: 'other' })], ['']],
  ['all, where the manager only updated', [entry(OWNED, { operation: 'Update' })], ['']],
  ['all, where the manager wrote a subresource', [entry(OWNED, { subresource: 'status' })], ['']],
]

t.test('loses', async (t) => {
  for (const [behaviour, managedFields, lost] of rows) {
    const live = { ...DEPLOYMENT, metadata: { ...DEPLOYMENT.metadata, managedFields } }
    t.same(lostFields(DEPLOYMENT, live, MANAGER), lost, behaviour)
  }
})

t.test('finds members of sets, and items by the keys that they have', async (t) => {
  const desired: KubeObject = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a', finalizers: ['x', 'y'] },
    ports: [{ port: 53 }, { port: 53, protocol: 'UDP' }, { port: 80 }],
  }
  const fields = {
    'f:metadata': { 'f:finalizers': { '.': {}, 'v:"x"': {} } },
    'f:ports': {
      'k:{"port":53,"protocol":"TCP"}': { '.': {}, 'f:port': {} },
      'k:{"port":53,"protocol":"UDP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} },
    },
  }
  const live = { ...desired, metadata: { ...desired.metadata, managedFields: [entry(fields)] } }
  t.same(lostFields(desired, live, MANAGER), ['/ports/2', '/metadata/finalizers/1'])
})

t.test('takes time in proportion to the length of a list', async (t) => {
  const sized = (size: number) => {
    const env = Array.from({ length: size }, (_, index) => ({ name: `v${index}`, value: 'x' }))
    const fields = Object.fromEntries(
      env.map(({ name }) => [`k:{"name":"${name}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]),
    )
    const desired: KubeObject = { ...DEPLOYMENT, metadata: { name: 'a' }, spec: { env } }
    const managedFields = [entry({ 'f:metadata': {}, 'f:spec': { 'f:env': fields } })]
    return { desired, live: { ...desired, metadata: { ...desired.metadata, managedFields } } }
  }
  const factor = growth(2_000, (size) => {
    const { desired, live } = sized(size)
    return () => lostFields(desired, live, MANAGER)
  })
  t.ok(factor < 4)
})
