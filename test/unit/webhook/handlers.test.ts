import t from 'tap'

import {
  IGNORE_FIELDS,
  MODE,
  PATCH,
  RECONCILE_PAUSED,
} from '../../../src/shared/engine/annotations.ts'
import { BadReview } from '../../../src/webhook/app.ts'
import { judge } from '../../../src/webhook/judge.ts'
import type { AdmissionRequest } from '../../../src/webhook/review.ts'
import { objectWith, tree } from '../engine/schemas.ts'
import {
  baselineOf,
  edited,
  handlersWith,
  type Json,
  knowledge,
  managedBy,
  requestFor,
} from './known.ts'

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
    { uid: 'c0ffee', user: 'admin', ...labels, verdict: 'corrected', reason: 'Drift' },
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
  const denying = handlersWith(knowledge, 'deny')
  denying.mutate(update)
  t.match(denying.events, [
    { note: 'the change of /spec/uninstallStrategy by admin: refused, nothing is stored' },
  ])
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
        422,
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
      422,
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
    t.throws(() => entry(request), BadReview, says)
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
      standing: {
        kind: 'active',
        baseline: objectWith({ byName: [{ name: 'a' }], text: 'a' }),
        digest: '',
      },
      tree,
    } as const
    const twice = { byName: [{ name: 'a' }, { name: 'a' }], text: 'a' }
    const { text: _, ...rest } = twice
    const context = { knowledge, enforcement: 'correct', digest: () => 'pending' } as const
    const dying = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    const verdicts = [{}, dying].map((metadata) => {
      const incoming = objectWith(rest, metadata)
      return judge({ incoming, old: objectWith(twice, metadata) }, managed, context)
    })
    t.match(verdicts, [
      { kind: 'denied', reason: 'Drift' },
      { kind: 'allowed', reason: 'Terminating' },
    ])
  },
)
