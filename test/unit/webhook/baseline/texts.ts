import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NAMES, PREFIX } from '../../../../src/shared/baseline/annotations.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { Drift } from '../../../../src/shared/engine/merge/merge.ts'
import { ATOMIC } from '../../../../src/shared/engine/merge/merge-tree.ts'
import { releaseFields } from '../../../../src/shared/engine/overrides/ignore-fields.ts'
import type { Contest } from '../../../../src/webhook/baseline/contests/contest-limiter.ts'
import {
  preventedEvent,
  warEvent,
  warRemark,
} from '../../../../src/webhook/baseline/words/event-notes.ts'
import { doubted, refused } from '../annotation-texts.ts'
import { baselineOf, edited, handlersWith, requestFor } from '../known.ts'
import { sentencePieces, textsIn } from '../sentences.ts'

const annotate = (asset: string, key: string, value: string) => {
  const oldObject = baselineOf(asset)
  const object = edited(oldObject, { annotations: { [`${PREFIX}${key}`]: value } })
  return handlersWith().mutate(requestFor('UPDATE', { object, oldObject }))
}
const nameOf = (key: string, value: string) => `${key}=${value.slice(0, 60)}`

for (const [asset, key, value, ...told] of refused) {
  t.test(`refuses ${nameOf(key, value)} on ${asset}, and says why`, async (t) => {
    const { status } = annotate(asset, key, value)
    t.equal(status?.code, 403)
    const end = 'Nothing was stored: mend the annotation and write again.'
    t.strictSame(status?.message.split('\n'), [...told, end])
  })
}

for (const [asset, key, value, ...told] of doubted) {
  t.test(`takes ${nameOf(key, value)} on ${asset}, and warns`, async (t) => {
    const { allowed: isAllowed, warnings } = annotate(asset, key, value)
    t.equal(isAllowed, true)
    t.strictSame(warnings, told)
  })
}

const subject: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
const drift = (field: string, found?: unknown): Drift => ({
  path: [{ field }],
  pointer: `/${field}`,
  kind: found === undefined ? 'missing' : 'different',
  found,
  wanted: 1,
})
const war = (changes: Partial<Contest>): Contest => ({
  ruling: { kind: 'refused', isNew: true },
  drifts: [drift('a', 'x'), drift('token', 'hunter2'), drift('c')],
  writer: { username: 'eve\u202e\n', fieldManager: 'argo' },
  quietMs: 3_600_000,
  isDenied: true,
  ...changes,
})
const shared = { ruling: { kind: 'shared', isNew: true } } as const
const moves =
  '/a is set to "x", /token is set to (hidden), /c is removed by several users, the last of them eve\\u202e\\u000a (field manager argo)'
const wars: readonly (readonly [what: string, said: string | undefined, told: string])[] = [
  [
    'one who changes a field again and again',
    warEvent(war({}), subject)?.note,
    'eve\\u202e\\u000a (field manager argo) changes /a, /token, /c again and again: denied until there was no such edit for 60 minutes',
  ],
  [
    'several who do',
    warEvent(war({ ...shared, isDenied: false }), subject)?.note,
    `${moves}: probably another admission webhook or a client's default; virt-platform-autopilot puts it back each time and denies nobody`,
  ],
  [
    'several who do what is denied anyway',
    warEvent(war(shared), subject)?.note,
    `${moves}: probably another admission webhook or a client's default; virt-platform-autopilot denies it to everybody, as it does all edits of this object`,
  ],
  [
    'one edit too many',
    warRemark({ writer: { username: 'eve', fieldManager: undefined }, quietMs: 60_000 }),
    ' eve edits managed fields of this object again and again: such edits are denied until there was none for a minute.',
  ],
]
const many = ['a', 'b', 'c', 'd', 'e', 'f\n'].map((field) => drift(field))
const prevented: typeof wars = [
  [
    'an edit that was put back',
    preventedEvent(many.slice(0, 1), subject, 'eve\n', true).note,
    'the change of /a by eve\\u000a: put back, the rest is stored',
  ],
  [
    'an edit that was refused',
    preventedEvent(many, subject, 'eve', false).note,
    'the change of /a, /b, /c, /d, /e and 1 more by eve: refused, nothing is stored',
  ],
]
const released = releaseFields(
  {
    desired: subject,
    tree: { type: 'map', fields: { rules: ATOMIC } },
    text: '/rules/0',
    isSensitive: true,
  },
  NAMES,
)
const parts: typeof wars = [
  [
    'a part of what only as a whole can be owned',
    released.ok ? undefined : released.error[0]?.message,
    '/rules/0 lies inside a value that the API server replaces whole: to own the object, set platform.kubevirt.io/mode=unmanaged',
  ],
]

for (const [what, said, told] of [...wars, ...prevented, ...parts])
  t.test(`tells of ${what}`, async (t) => {
    t.equal(said, told)
  })

// Said only where two readers of JSON disagree, and none is known that they disagree on.
const NEVER_SEEN = new Set(['not JSON'])

t.test('says nothing that no test compares in full', async (t) => {
  const files = ['messages.ts', 'quotas.ts'].map((file) => join(import.meta.dirname, file))
  const texts = [
    ...[...refused, ...doubted].flatMap(([, , , ...told]) => told),
    ...[...wars, ...prevented, ...parts].map(([, , told]) => told),
    ...files.flatMap((file) => textsIn(readFileSync(file, 'utf8'))),
  ]
  const isCompared = (piece: string) => texts.some((text) => text.includes(piece))
  t.strictSame(
    sentencePieces().filter((piece) => !isCompared(piece.trim()) && !NEVER_SEEN.has(piece)),
    [],
  )
})
