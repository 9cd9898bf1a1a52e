import t from 'tap'
import { FORMATS, findingOn } from '../../../../src/cli/graph/online/finding.ts'
import type { Difference } from '../../../../src/shared/graph-engine/diff.ts'

const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'web', name: 'a' }
const KEY = '/ConfigMap/web/a'
const object = (data: unknown) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'web' },
  data,
})
const present = (data: unknown) =>
  new Map([[KEY, { state: 'present' as const, object: object(data) }]])

const found = (
  difference: Omit<Difference, 'id' | 'ref'>,
  {
    wanted = {},
    objects = new Map(),
  }: { wanted?: unknown; objects?: ReadonlyMap<string, never> | ReturnType<typeof present> } = {},
) =>
  findingOn(
    { id: 'cfg', ref, ...difference },
    { nodes: [{ id: 'cfg', object: object(wanted) }], objects },
  )

const lines = (...findings: Parameters<typeof FORMATS.text>[0]) =>
  FORMATS.text(findings).split('\n').slice(0, -1)

t.test('a change is shown field by field; of a list’s item only what it is to be', async (t) => {
  const finding = found(
    { kind: 'changed', fields: ['/data/text', '/data/list/0/a', '/data/password', '/data/gone'] },
    {
      wanted: { text: 'new', list: [{ a: 1 }], password: 'x' },
      objects: present({ text: 'old\n', list: [{ a: 2 }], password: 'y', gone: 1 }),
    },
  )
  t.equal(finding.action, 'change')
  t.same(lines(finding), [
    'ConfigMap web/a (cfg): would be changed',
    '  /data/text "old\\n" → "new"',
    '  /data/list/0/a → 1',
    '  /data/password (hidden) → (hidden)',
    '  /data/gone 1 → nothing',
  ])
})

t.test('each sort of difference has its words', async (t) => {
  t.same(lines(found({ kind: 'created' })), ['ConfigMap web/a (cfg): would be created'])
  t.same(lines(found({ kind: 'pruned' })), ['ConfigMap web/a (cfg): would be deleted'])
  t.same(lines(found({ kind: 'unchanged' })), [])
  t.same(lines(found({ kind: 'refused', message: 'exists already and belongs to no graph' })), [
    'ConfigMap web/a (cfg): is not applied: it exists already and belongs to no graph',
  ])
  t.same(
    lines(found({ kind: 'left', message: 'is left as it is: its deletionPolicy is Orphan' })),
    ['ConfigMap web/a (cfg): leaves the graph and is left as it is: its deletionPolicy is Orphan'],
  )
})

t.test('what may not be read is not known, whatever the inventory says', async (t) => {
  const objects = new Map([[KEY, { state: 'unreadable' as const, reason: 'GET …: 403' }]])
  const finding = findingOn({ id: 'cfg', ref, kind: 'changed' }, { nodes: [], objects })
  t.match(finding, { action: 'unknown', message: 'GET …: 403' })
  t.same(lines(finding), [])
  t.match(JSON.parse(FORMATS.json([finding])), { objects: [{ action: 'unknown' }] })
})
