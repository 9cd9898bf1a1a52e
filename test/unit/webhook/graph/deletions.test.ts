import t from 'tap'
import type { AdmissionResponse } from '../../../../src/webhook/server/review.ts'
import { type Asked, doorWith, graphWith, item, RECONCILER, requestOf, transform } from './known.ts'

const shop = transform('shop')
const deployment = item('web', { apiVersion: 'apps/v1', kind: 'Deployment' })
const service = item('web', { id: 'service', kind: 'Service', dependsOn: ['web'] })
const claim = item('data', { kind: 'PersistentVolumeClaim' })
const deletable = item('data', { kind: 'PersistentVolumeClaim', deletionPolicy: 'Delete' })
const database = item('db', { apiVersion: 'apps/v1', kind: 'StatefulSet' })
const settings = item('settings', { deletionPolicy: 'Orphan' })
const WAY_OUT = `To keep all of it, before you delete it (--dry-run=server tries it out): kubectl patch transform shop -n shop --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`
const deleting = { oldObject: shop }
const CLEANER = { username: 'system:serviceaccount:kube-system:namespace-controller' }

const verdicts: readonly (readonly [
  says: string,
  asked: Asked,
  inventory: Parameters<typeof graphWith>[1],
  reason: string,
  warnings: readonly string[] | undefined,
])[] = [
  [
    'what goes, dependents first',
    deleting,
    [deployment, service],
    'Deleted',
    [
      'Transform shop/shop takes with it, in this order: Service shop/web, Deployment shop/web.',
      WAY_OUT,
    ],
  ],
  [
    'where data may be lost, and what stays',
    deleting,
    [database, deletable, claim, settings],
    'Deleted',
    [
      'Transform shop/shop takes with it, in this order: StatefulSet shop/db, PersistentVolumeClaim shop/data.',
      'Data may be lost with StatefulSet shop/db, PersistentVolumeClaim shop/data.',
      WAY_OUT,
      'PersistentVolumeClaim shop/data is left as it is, since its data would be lost: it goes only where its node says deletionPolicy: Delete.',
      'ConfigMap shop/settings is left as it is: its deletionPolicy is Orphan.',
    ],
  ],
  [
    'that nothing goes where all of it stays',
    deleting,
    [settings],
    'Deleted',
    ['ConfigMap shop/settings is left as it is: its deletionPolicy is Orphan.'],
  ],
  [
    'what stays by the policy of the Transform',
    { oldObject: transform('shop', { deletionPolicy: 'Orphan' }) },
    [deployment, service],
    'Orphaned',
    ['Transform shop/shop goes, and leaves as they are: Deployment shop/web, Service shop/web.'],
  ],
  [
    'what stays by --cascade=orphan',
    { ...deleting, options: { propagationPolicy: 'Orphan' } },
    [deployment],
    'Orphaned',
    ['Transform shop/shop goes, and leaves as they are: Deployment shop/web.'],
  ],
  ['nothing where nothing was made', deleting, [], 'Empty', undefined],
  [
    'nothing of an earlier Transform of the name',
    { oldObject: transform('shop', {}, { uid: 'another' }) },
    [deployment],
    'Empty',
    undefined,
  ],
  [
    'nothing of what is going already',
    { oldObject: transform('shop', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    [deployment],
    'Ending',
    undefined,
  ],
  [
    'nothing to a controller that cleans up',
    { ...deleting, userInfo: CLEANER },
    [deployment],
    'CleaningUp',
    undefined,
  ],
]

t.test('tells what goes with a Transform, and never refuses it', async (t) => {
  for (const [says, asked, inventory, reason, warnings] of verdicts) {
    const { handler, counted } = doorWith({ graphs: [graphWith('shop', inventory)] })
    const response: AdmissionResponse = { allowed: true, ...(warnings && { warnings }) }
    t.strictSame(await handler(requestOf(asked)), response, says)
    t.match(counted, [{ operation: 'DELETE', verdict: 'allowed', reason }], says)
  }
})

t.test('names as many objects as there is room for', async (t) => {
  const named = (count: number, length: number) =>
    Array.from({ length: count }, (_, at) => item(`${at}${'x'.repeat(length)}`))
  for (const [count, length, end] of [
    [30, 1, /, ConfigMap shop\/29x\.$/],
    [40, 60, / ConfigMap shop\/4x{60}, and 35 more\.$/],
    [5, 240, /: ConfigMap shop\/0x{240}, and 4 more\.$/],
  ] as const) {
    const { handler } = doorWith({ graphs: [graphWith('shop', named(count, length))] })
    const { warnings = [] } = await handler(requestOf(deleting))
    t.match(warnings[0], end)
    t.equal(warnings.at(-1), WAY_OUT)
    t.ok(warnings.join('\n').length < 2_048)
  }
})

const graph = graphWith('shop', [])
const changed = { ...graph, spec: { ...graph.spec, deletionPolicy: 'Orphan' as const } }
const FORBIDDEN = (verb: string) => ({
  allowed: false,
  status: {
    code: 403,
    message: `ResourceGraph shop/shop is written by the autopilot alone, from Transform shop/shop: ${verb} that instead.\nkubectl ${verb} transform shop -n shop`,
  },
})

t.test('keeps a ResourceGraph from everybody but us', async (t) => {
  const writes: readonly (readonly [
    says: string,
    asked: Asked,
    reason: string,
    response: AdmissionResponse,
  ])[] = [
    ['a creation', { object: graph }, 'NotTheirs', FORBIDDEN('edit')],
    ['an edit', { object: changed, oldObject: graph }, 'NotTheirs', FORBIDDEN('edit')],
    [
      'an edit of what is too large to be looked at',
      { object: graph, oldObject: graph, oversized: ['object'] },
      'NotTheirs',
      FORBIDDEN('edit'),
    ],
    ['a deletion', { oldObject: graph }, 'NotTheirs', FORBIDDEN('delete')],
    [
      'a finalizer that goes',
      { object: graph, oldObject: graphWith('shop', [], { finalizers: ['x'] }) },
      'Unchanged',
      { allowed: true },
    ],
    [
      'a deletion that goes on',
      { oldObject: graphWith('shop', [], { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
      'Ending',
      { allowed: true },
    ],
    [
      'an edit of ours',
      { object: changed, oldObject: graph, userInfo: { username: RECONCILER } },
      'Ours',
      { allowed: true },
    ],
    [
      'a namespace that goes',
      { oldObject: graph, userInfo: CLEANER },
      'CleaningUp',
      { allowed: true },
    ],
  ]
  for (const [says, asked, reason, response] of writes) {
    const { handler, counted } = doorWith()
    t.strictSame(await handler(requestOf(asked)), response, says)
    t.match(counted, [{ kind: 'ResourceGraph', reason }], says)
  }
})
