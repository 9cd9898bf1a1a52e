import t from 'tap'

import {
  IGNORE_FIELDS,
  MODE,
  PATCH,
  RECONCILE_PAUSED,
} from '../../../../src/shared/baseline/annotations.ts'
import { decide } from '../../../../src/webhook/baseline/decide/decide.ts'
import { gather } from '../../../../src/webhook/baseline/decide/gather.ts'
import type { AdmissionRequest } from '../../../../src/webhook/server/review.ts'
import { Refused } from '../../../../src/webhook/server/review.ts'
import { objectWith, tree } from '../../engine/merge/schemas.ts'
import {
  baselineOf,
  edited,
  handlersWith,
  type Json,
  managedBy,
  requestFor,
  snapshot,
} from '../known.ts'

const hco = baselineOf('hco-golden-config')
const swap = baselineOf('swap-enable')
const health = baselineOf('node-health-standard')

const drifted = edited(hco, {
  spec: (spec) => {
    spec.uninstallStrategy = 'x' as unknown as Json
  },
})
const update = requestFor('UPDATE', { object: drifted, oldObject: hco })

t.test('counts, times and logs each verdict of the mutating entry', async (t) => {
  const { mutate, counted, timed, logged, clock } = handlersWith()
  mutate(update)
  mutate(requestFor('UPDATE', { object: hco, oldObject: hco }))
  clock.now = 5_000
  const labels = { kind: 'HyperConverged', operation: 'UPDATE' }
  t.strictSame(counted, [
    { ...labels, verdict: 'corrected', reason: 'Drift' },
    { ...labels, verdict: 'allowed', reason: 'InSync' },
  ])
  t.strictSame(timed, [
    ['corrected', 0],
    ['allowed', 0],
  ])
  t.strictSame(logged, [
    {
      uid: 'c0ffee',
      user: 'admin',
      namespace: 'openshift-cnv',
      name: 'kubevirt-hyperconverged',
      ...labels,
      verdict: 'corrected',
      reason: 'Drift',
      pointers: '/spec/uninstallStrategy',
    },
  ])
})

t.test('sends one event a minute for the same fields, object and user', async (t) => {
  const { mutate, events, clock } = handlersWith()
  const times: [now: number, request: AdmissionRequest, count: number][] = [
    [0, update, 1],
    [1, update, 1],
    [59_999, update, 1],
    [59_999, { ...update, userInfo: { username: 'somebody else' } }, 2],
    [
      59_999,
      requestFor('UPDATE', { object: edited(hco, { spec: () => ({}) }), oldObject: hco }),
      3,
    ],
    [
      59_999,
      requestFor('UPDATE', { object: edited(health, { labels: {} }), oldObject: health }),
      4,
    ],
    [60_000, { ...update, dryRun: true }, 4],
    [60_000, update, 5],
  ]
  for (const [now, request, count] of times) {
    clock.now = now
    mutate(request)
    t.equal(events.length, count)
  }
})

t.test('says in the event who wrote what, and what came of it', async (t) => {
  const { mutate, events } = handlersWith()
  mutate({ ...update, userInfo: { username: 'eve\u202e' } })
  const object = edited(swap, { spec: () => ({ config: { ignition: 1, storage: 1, systemd: 1 } }) })
  mutate(requestFor('UPDATE', { object, oldObject: swap }))
  mutate(requestFor('CREATE', { object: edited(health, { labels: {}, spec: () => ({}) }) }))
  t.strictSame(
    events.map(({ note }) => note),
    [
      'the change of /spec/uninstallStrategy by eve\\u202e: put back, the rest is stored',
      'the change of /spec/config/ignition/version, /spec/config/storage/files, /spec/config/systemd/units by admin: put back, the rest is stored',
      'the change of /metadata/labels/platform.kubevirt.io~1managed-by, /spec/selector, /spec/minHealthy, /spec/unhealthyConditions/0, /spec/unhealthyConditions/1 and 1 more by admin: put back, the rest is stored',
    ],
  )
  t.match(events[0], { type: 'Normal', reason: 'DriftPrevented', subject: drifted })
  const denying = handlersWith(snapshot, 'deny')
  denying.mutate(update)
  t.match(denying.events, [
    { note: 'the change of /spec/uninstallStrategy by admin: refused, nothing is stored' },
  ])
})

t.test('an edit war ends in a denial that names its author and the way out', async (t) => {
  const { mutate, events, wars, counted, clock, logged } = handlersWith()
  const loop: AdmissionRequest = {
    ...update,
    userInfo: { username: 'system:serviceaccount:gitops:sync' },
    options: { kind: 'PatchOptions', fieldManager: 'argocd\u202e' },
  }
  const write = (request = loop) => {
    clock.now += 2_000
    return mutate(request)
  }
  for (let round = 0; round < 5; round++)
    t.match(write(), { allowed: true, patchType: 'JSONPatch' })
  const denial = write()
  t.match(denial, { allowed: false, status: { code: 403 } })
  const { message = '' } = denial.status ?? {}
  t.match(
    message,
    /\/spec\/uninstallStrategy is kept by virt-platform-autopilot \(hco-golden-config/,
  )
  t.match(
    message,
    'system:serviceaccount:gitops:sync (field manager argocd\\u202e) edits managed fields of this object again',
  )
  t.match(message, /until there was none for 60 minutes/)
  t.match(message, /--overwrite platform\.kubevirt\.io\/patch='\[\{"op":"/)
  t.match(write({ ...loop, options: { fieldManager: 'another' } }), { allowed: false })
  t.match(
    events.filter(({ reason }) => reason === 'ThrashingDetected'),
    [
      {
        type: 'Warning',
        note: /^system:serviceaccount:gitops:sync \(field manager argocd\\u202e\) changes \/spec\/uninstallStrategy again and again: denied/,
      },
    ],
    'one event for one war',
  )
  const name = 'kubevirt-hyperconverged'
  const contest = `contest ${name}`
  t.strictSame(wars, [...Array(5).fill(contest), contest, `war ${name}`, contest])
  t.match(counted.at(-1), { verdict: 'denied', reason: 'Thrashing' })
  t.match(
    logged,
    [{ verdict: 'corrected' }, { verdict: 'denied', reason: 'Thrashing' }],
    'a loop is told once a minute for each verdict',
  )
  t.equal(logged.length, 2)
  clock.now += 100
  t.match(mutate(loop), { allowed: false })
  t.equal(wars.length, 8, 'what comes again within a moment is counted once')
  t.match(mutate({ ...update, userInfo: { username: 'bob' } }), { allowed: true })
  t.match(write({ ...loop, dryRun: true }), { allowed: false, status: { code: 403, message } })
  t.equal(wars.length, 9, 'a dry run gets the same answer and counts nothing')
})

t.test('the event that opens an episode comes, however many corrections came before', async (t) => {
  const { mutate, events, clock } = handlersWith()
  for (let user = 0; user < 10; user++) {
    const object = edited(hco, {
      spec: (spec) => {
        spec.uninstallStrategy = `of ${user}` as unknown as Json
      },
    })
    const userInfo = { username: `user-${user}` }
    mutate(requestFor('UPDATE', { object, oldObject: hco, userInfo }))
  }
  t.same(new Set(events.map(({ reason }) => reason)), new Set(['DriftPrevented']))
  t.equal(events.length, 5, 'nothing is left for corrections')
  for (let round = 0; round < 6; round++) {
    clock.now += 2_000
    mutate(update)
  }
  t.match(events.slice(5), [{ reason: 'ThrashingDetected' }])
  t.equal(events.length, 6)
})

t.test('edits that are denied anyway make a war too', async (t) => {
  const { mutate, wars, clock } = handlersWith()
  const object = edited(swap, { spec: () => ({ config: { ignition: 1, storage: 1, systemd: 1 } }) })
  const request = requestFor('UPDATE', { object, oldObject: swap })
  for (let round = 0; round < 6; round++) {
    clock.now += 2_000
    mutate(request)
  }
  t.equal(wars.at(-1), 'war 90-worker-swap-online')
})

t.test('what nobody moved is no contest', async (t) => {
  const { mutate, wars, clock } = handlersWith()
  const requests = [
    requestFor('CREATE', { object: drifted }),
    requestFor('UPDATE', { object: drifted, oldObject: drifted }),
    requestFor('UPDATE', { object: edited(hco, { labels: {} }), oldObject: hco }),
    requestFor('UPDATE', {
      object: edited(drifted, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      oldObject: hco,
    }),
    { ...update, dryRun: true },
  ]
  for (let round = 0; round < 8; round++) {
    clock.now += 2_000
    for (const request of requests) t.match(mutate(request), { allowed: true })
  }
  t.strictSame(wars, [])
})

t.test('lifting a pause forgets the war', async (t) => {
  const { mutate, clock } = handlersWith()
  const write = (request: AdmissionRequest) => {
    clock.now += 2_000
    return mutate(request).allowed
  }
  const paused = edited(hco, { annotations: { [RECONCILE_PAUSED]: 'true' } })
  for (let round = 0; round < 5; round++) t.ok(write(update))
  t.notOk(write(update))
  t.ok(write(requestFor('UPDATE', { object: paused, oldObject: hco })))
  t.ok(write(requestFor('UPDATE', { object: hco, oldObject: paused })))
  t.ok(write(update))
})

t.test('judges nothing but overrides before a state was read', async (t) => {
  const nowhere = edited(hco, { metadata: { namespace: 'anywhere' } })
  const requests: [says: string, request: AdmissionRequest, code?: number][] = [
    ['an edit', update],
    ['no change', requestFor('UPDATE', { object: hco, oldObject: hco })],
    ['a deletion', requestFor('DELETE', { oldObject: swap })],
    ...[{ [MODE]: 'x' }, { [RECONCILE_PAUSED]: 'false' }].map(
      (annotations): [string, AdmissionRequest, number] => [
        JSON.stringify(annotations),
        requestFor('UPDATE', { object: edited(nowhere, { annotations }), oldObject: nowhere }),
        403,
      ],
    ),
    [
      'a patch on a sensitive kind',
      requestFor('CREATE', { object: edited(swap, { annotations: { [PATCH]: '[]' } }) }),
      403,
    ],
    [
      'a patch on another kind',
      requestFor('CREATE', { object: edited(hco, { annotations: { [PATCH]: '[' } }) }),
    ],
    [
      'ignore-fields',
      requestFor('CREATE', { object: edited(hco, { annotations: { [IGNORE_FIELDS]: 'x' } }) }),
    ],
    [
      'a status',
      {
        ...requestFor('CREATE', { object: edited(hco, { annotations: { [MODE]: 'x' } }) }),
        subResource: 'status',
      },
    ],
    [
      'another name',
      requestFor('CREATE', {
        object: edited(hco, { annotations: { [MODE]: 'x' }, metadata: { name: 'other' } }),
      }),
    ],
    [
      'another kind',
      {
        ...requestFor('CREATE', { object: edited(hco, { annotations: { [MODE]: 'x' } }) }),
        kind: { group: '', version: 'v1', kind: 'Pod' },
      },
    ],
    [
      'another namespace',
      requestFor('CREATE', {
        object: edited(baselineOf('metallb'), {
          annotations: { [MODE]: 'x' },
          metadata: { namespace: 'other' },
        }),
      }),
    ],
    [
      'its own namespace',
      requestFor('CREATE', {
        object: edited(baselineOf('metallb'), { annotations: { [MODE]: 'x' } }),
      }),
      403,
    ],
  ]
  for (const [says, request, code] of requests) {
    const { mutate, validate, counted } = handlersWith(null)
    for (const response of [mutate(request), validate(request)]) {
      t.equal(response.allowed, code === undefined, says)
      t.equal(response.status?.code, code, says)
    }
    t.equal(counted.length, code === undefined ? 0 : 2, says)
  }
})

t.test('takes a review of one of our objects for bad that lacks what it must have', async (t) => {
  const bad: [says: string, request: AdmissionRequest][] = [
    ['no object', { ...update, object: null }],
    ['no old object', { ...update, oldObject: undefined }],
    ['an old object that is none', { ...update, oldObject: 'x' }],
    ['an object without metadata', { ...update, object: { apiVersion: 'v1', kind: 'K' } }],
    ['a deletion of nothing', { ...update, operation: 'DELETE', object: null, oldObject: null }],
    ...[{ annotations: { a: 1 } }, { annotations: [] }, { labels: 'x' }, { namespace: 1 }].map(
      (metadata): [string, AdmissionRequest] => [
        JSON.stringify(metadata),
        { ...update, object: edited(hco, { metadata }) },
      ],
    ),
  ]
  for (const [says, request] of bad) {
    const { mutate, validate } = handlersWith()
    const entry = request.operation === 'DELETE' ? validate : mutate
    t.throws(() => entry(request), Refused, says)
  }
  const empty = edited(hco, { metadata: { labels: null, annotations: null } })
  t.equal(handlersWith().mutate({ ...update, object: empty }).patchType, 'JSONPatch')
})

t.test('lets an object be created whose name the server is yet to choose', async (t) => {
  const { name: _, ...request } = requestFor('CREATE', {
    object: { ...hco, metadata: { generateName: 'kubevirt-hyperconverged' } },
  })
  t.strictSame(handlersWith().mutate(request), { allowed: true })
})

t.test(
  'leaves a terminating object alone, or denies, where what was there cannot be put back',
  async (t) => {
    const managed = {
      ...managedBy('kubelet-perf-settings'),
      status: {
        kind: 'active',
        baseline: objectWith({ byName: [{ name: 'a' }], text: 'a' }),
        digest: '',
      },
      tree,
    } as const
    const twice = { byName: [{ name: 'a' }, { name: 'a' }], text: 'a' }
    const { text: _, ...rest } = twice
    const options = { enforcement: 'correct', digest: () => 'pending' } as const
    const dying = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    const verdicts = [{}, dying].map((metadata) => {
      const incoming = objectWith(rest, metadata)
      const write = { incoming, old: objectWith(twice, metadata) }
      return decide(gather(write, managed, snapshot, options), () => undefined)
    })
    t.match(verdicts, [
      { kind: 'denied', reason: 'Drift' },
      { kind: 'allowed', reason: 'Terminating' },
    ])
  },
)
