import t from 'tap'
import {
  IGNORE_FIELDS,
  MODE,
  PATCH,
  PREFIX,
  RECONCILE_PAUSED,
} from '../../../../src/shared/baseline/annotations.ts'
import { baselineOf, edited, handlersWith, type Json, requestFor } from '../known.ts'

type Annotations = Readonly<Record<string, string>>

/** What the mutating entry says to a write that adds these annotations, and edits the spec beside. */
const answerTo = (asset: string, annotations: Annotations, spec?: (spec: Json) => void) => {
  const object = baselineOf(asset)
  const incoming = edited(object, { annotations, ...(spec && { spec }) })
  return handlersWith().mutate(requestFor('UPDATE', { object: incoming, oldObject: object }))
}

const list = '/spec/permittedHostDevices'
const evil = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'evil' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'User', name: 'mallory' }],
}
const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: '0' }
const role = '/metadata/labels/machineconfiguration.openshift.io~1role'

const patches: readonly (readonly [
  attack: string,
  patch: string | readonly object[],
  fault: RegExp,
])[] = [
  ['another name', [{ op: 'replace', path: '/metadata/name', value: 'evil' }], /\/metadata\/name/],
  [
    'another name by way of its parent',
    [{ op: 'replace', path: '/metadata', value: { name: 'evil' } }],
    /\/metadata\/name/,
  ],
  ['another object altogether', [{ op: 'replace', path: '', value: evil }], /\/kind/],
  [
    'a member in another case',
    '[{"op":"replace","path":"/kind","Path":"/spec/x","value":"ClusterRoleBinding"}]',
    /nothing else/,
  ],
  [
    'a member that is there twice',
    '[{"op":"replace","path":"/spec/x","path":"/metadata/name","value":"e"}]',
    /duplicate member "path"/,
  ],
  [
    'an owner that is gone, so that the object goes too',
    [{ op: 'add', path: '/metadata/ownerReferences', value: [gone] }],
    /ownerReferences/,
  ],
  [
    'a finalizer that nobody removes',
    [{ op: 'add', path: '/metadata/finalizers', value: ['evil/stuck'] }],
    /finalizers/,
  ],
  [
    'an annotation of ours',
    [{ op: 'add', path: '/metadata/annotations', value: { [MODE]: 'unmanaged' } }],
    /mode/,
  ],
  ['no spec', [{ op: 'remove', path: '/spec' }], /leave spec a map/],
  ['a spec of null', [{ op: 'replace', path: '/spec', value: null }], /leave spec a map/],
  [
    'a map moved to a label',
    [{ op: 'move', from: '/spec/liveMigrationConfig', path: role }],
    /must not change \/metadata\/labels/,
  ],
  [
    'managed fields copied into the spec',
    [{ op: 'copy', from: '/metadata/managedFields', path: '/spec/x' }],
    /the baseline, which the patch works on, ends at/,
  ],
  [
    'a copy bomb',
    [
      { op: 'add', path: list, value: ['x'] },
      ...Array(25).fill({ op: 'copy', from: list, path: `${list}/-` }),
    ],
    /must not have more than 20000 values/,
  ],
  ['null', 'null', /list of operations/],
  ['nothing', '', /strict JSON/],
  ['an empty text', '""', /list of operations/],
  ['a map', '{}', /list of operations/],
  ['a list in a text', '"[]"', /list of operations/],
  ['a list of null', '[null]', /must be a map/],
  ['a list of lists', '[[]]', /must be a map/],
  ['a list of nothing', '[{}]', /"op" must be/],
  [
    '300 KiB',
    `[${'{"op":"remove","path":"/spec"},'.repeat(10_000)}]`,
    /longer than 65536 characters/,
  ],
  ['a byte order mark', '\ufeff[]', /strict JSON.*offset 0/],
  ['a comma at the end', '[{"op":"remove","path":"/spec"},]', /strict JSON.*offset 32/],
  ['NaN', '[NaN]', /strict JSON.*offset 1/],
  ['a comment', '[] // x', /strict JSON.*offset 3/],
  ['a field that nobody knows', [{ op: 'add', path: '/data', value: {} }], /unknown to the schema/],
  [
    'null for a field',
    [{ op: 'replace', path: '/spec/uninstallStrategy', value: null }],
    /to null.*"op": "remove"/,
  ],
]

t.test('denies a patch that is an attack, or no patch', async (t) => {
  for (const [attack, patch, fault] of patches) {
    const text = typeof patch === 'string' ? patch : JSON.stringify(patch)
    const { allowed, status, patch: stored } = answerTo('hco-golden-config', { [PATCH]: text })
    t.equal(allowed, false, attack)
    t.equal(status?.code, 403, attack)
    t.match(status?.message ?? '', fault, attack)
    t.not(status?.details?.causes.length ?? 0, 0, `${attack}: with a cause`)
    t.equal(stored, undefined, attack)
  }
})

t.test('lets an empty patch pass', async (t) => {
  t.strictSame(answerTo('hco-golden-config', { [PATCH]: '[]' }), { allowed: true })
})

t.test('denies any patch on a kind that grants power, good or bad', async (t) => {
  for (const asset of ['swap-enable', 'kubelet-perf-settings']) {
    for (const text of ['[]', '[', JSON.stringify([{ op: 'remove', path: '/spec' }])]) {
      const { allowed, status } = answerTo(asset, { [PATCH]: text })
      t.equal(allowed, false, `${asset} ${text}`)
      t.equal(status?.code, 403, `${asset} ${text}`)
    }
  }
})

const ignored: readonly (readonly [asset: string, text: string, fault: RegExp])[] = [
  ['swap-enable', '/spec', /is too much/],
  ['kubelet-perf-settings', '/spec', /is too much/],
  ['hco-golden-config', '/kind', /says what the object is/],
  ['hco-golden-config', '/apiVersion', /says what the object is/],
  ['hco-golden-config', '/status', /is never managed/],
  ['hco-golden-config', '/metadata/name', /cannot be released/],
  ['hco-golden-config', '/metadata/labels', /cannot be released/],
  ['hco-golden-config', '/metadata/annotations/platform.kubevirt.io~1mode', /cannot be released/],
  ['hco-golden-config', '', /^/], // nothing is ignored, which is no fault
  ['hco-golden-config', '/', /is unknown/],
  ['hco-golden-config', '""', /must start with "\/"/],
  ['hco-golden-config', '[""]', /is the whole object/],
  ['hco-golden-config', '/spec/liveMigrationConfig/allowPostCopy/x', /release .* instead/],
  ['node-health-standard', '/spec/selector/matchExpressions/0/a', /release .* instead/],
  ['node-health-standard', '/spec/unhealthyConditions/0/type', /is a key/],
  ['node-health-standard', '/spec/minHealthy/x', /release \/spec\/minHealthy instead/],
  ['hco-golden-config', '/spec/a,b', /b must start with "\/"/],
  ['hco-golden-config', '/a~2b~0', /must write "~" as ~0/],
  ['hco-golden-config', '/spec/__proto__/x', /must not have the segment/],
]

t.test('denies fields that nobody may be given', async (t) => {
  for (const [asset, text, fault] of ignored) {
    const { allowed, status } = answerTo(asset, { [IGNORE_FIELDS]: text })
    t.equal(allowed, text === '', `${asset} ${text}`)
    t.match(status?.message ?? '', fault, `${asset} ${text}`)
  }
})

t.test('denies a switch that is written almost right', async (t) => {
  for (const [key, text] of [
    [MODE, 'Unmanaged'],
    [MODE, ' unmanaged'],
    [MODE, 'unmanaged '],
    [MODE, ''],
    [RECONCILE_PAUSED, 'TRUE'],
    [RECONCILE_PAUSED, 'true\n'],
    [RECONCILE_PAUSED, '1'],
  ] as const) {
    const { allowed, status } = answerTo('hco-golden-config', { [key]: text })
    t.equal(allowed, false, `${key}=${text}`)
    t.equal(status?.code, 403, `${key}=${text}`)
  }
})

t.test('an annotation in another case is another annotation, and the writer is told', async (t) => {
  const annotations = { [`${PREFIX}Mode`]: 'unmanaged', [MODE]: 'managed' }
  const answer = answerTo('hco-golden-config', annotations, (spec) => {
    spec.uninstallStrategy = 'RemoveWorkloads' as unknown as Json
  })
  t.ok(answer.allowed)
  t.type(answer.patch, 'string', 'the edit is corrected')
  t.match(answer.warnings?.join('\n'), /Mode means nothing here: did you mean .*\/mode\?/)
})

t.test('an override counts for the edit that comes with it', async (t) => {
  const edit = (spec: Json) => {
    spec.uninstallStrategy = 'RemoveWorkloads' as unknown as Json
  }
  const path = '/spec/uninstallStrategy'
  const wanted = JSON.stringify([{ op: 'add', path, value: 'RemoveWorkloads' }])
  for (const annotations of [
    { [PATCH]: wanted },
    { [IGNORE_FIELDS]: path },
    { [MODE]: 'unmanaged' },
    { [RECONCILE_PAUSED]: 'true' },
  ]) {
    const answer = answerTo('hco-golden-config', annotations, edit)
    t.strictSame(answer, { allowed: true }, JSON.stringify(annotations))
  }
  const invalid = answerTo('hco-golden-config', { [IGNORE_FIELDS]: path, [PATCH]: '[' }, edit)
  t.equal(invalid.allowed, false, 'nothing is stored beside an invalid one')
})
