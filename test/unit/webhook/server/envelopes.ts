import t from 'tap'
import { PREFIX } from '../../../../src/shared/baseline/annotations.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { createApp } from '../../../../src/webhook/server/app.ts'
import { baselineOf, edited, handlersWith, type Json, requestFor } from '../known.ts'

const hco = baselineOf('hco-golden-config')
const drifted = edited(hco, {
  spec: (spec) => {
    spec.uninstallStrategy = 'x' as unknown as Json
  },
})
const update = requestFor('UPDATE', { object: drifted, oldObject: hco })
const text = (request: unknown) =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })
const without = (member: keyof typeof update) => {
  const { [member]: _, ...rest } = update
  return rest
}
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }
const UID = '"uid":"c0ffee"'

/** What is in place of a sound review, and what comes of it: the uids that are answered, or a status. */
const envelopes: readonly (readonly [
  says: string,
  body: string,
  outcome: number | { readonly uid: string; readonly isJudged: boolean },
])[] = [
  ['a uid', text(update), { uid: 'c0ffee', isJudged: true }],
  ['no uid', text(without('uid')), 400],
  ['an empty uid', text({ ...update, uid: '' }), 400],
  ['a uid of 1 MB', text({ ...update, uid: 'x'.repeat(1e6) }), 400],
  ['a uid that is a number', text({ ...update, uid: 7 }), 400],
  // JSON says nothing of it; whoever parses it takes the last.
  [
    'a uid that is there twice',
    text(update).replace(UID, `"uid":"first",${UID}`),
    { uid: 'c0ffee', isJudged: true },
  ],
  ['no request', text(null), 400],
  ['a request that is absent', text(undefined), 400],
  ['no userInfo', text(without('userInfo')), 400],
  ['userInfo that is null', text({ ...update, userInfo: null }), 400],
  ['no username', text({ ...update, userInfo: { groups: ['a'] } }), 400],
  [
    'no groups',
    text({ ...update, userInfo: { username: 'alice' } }),
    { uid: 'c0ffee', isJudged: true },
  ],
  [
    'groups that are no list',
    text({ ...update, userInfo: { username: 'alice', groups: 'system:masters' } }),
    { uid: 'c0ffee', isJudged: true },
  ],
  ['no kind', text(without('kind')), 400],
  [
    'a kind that is not what the resource says',
    text({
      ...update,
      resource: { group: '', version: 'v1', resource: 'secrets' },
      requestResource: { group: '', version: 'v1', resource: 'secrets' },
    }),
    { uid: 'c0ffee', isJudged: true },
  ],
  [
    'a kind that nobody manages, with one of our objects',
    text({ ...update, kind: { group: '', version: 'v1', kind: 'Secret' } }),
    { uid: 'c0ffee', isJudged: false },
  ],
  ['our kind, with an object of another', text({ ...update, object: secret }), 400],
  ['no object', text({ ...update, object: null }), 400],
  ['no old object', text(without('oldObject')), 400],
  ['no word on dry runs', text(without('dryRun')), { uid: 'c0ffee', isJudged: true }],
]

for (const [says, body, outcome] of envelopes) {
  const isNumber = typeof outcome === 'number'
  const end = isNumber ? `refused with ${outcome}` : outcome.isJudged ? 'judged' : 'let pass'
  t.test(`a review with ${says} is ${end}`, async (t) => {
    const { counted, events, logged, wars, ...handlers } = handlersWith()
    const app = createApp({
      prefix: PREFIX,
      ...handlers,
      onError: (error) => t.fail(`a caller made the webhook fail: ${error.stack}`),
    })
    t.teardown(() => app.close())
    const headers = { 'content-type': 'application/json' }
    const answer = await app.inject({ method: 'POST', url: '/mutate', headers, body })
    if (isNumber) {
      t.equal(answer.statusCode, outcome)
      t.ok(answer.body.length < 700, 'whatever was sent, little comes back')
      t.strictSame([counted, events, logged, wars], [[], [], [], []])
      return
    }
    t.equal(answer.statusCode, 200)
    const { response } = answer.json()
    t.equal(response.uid, outcome.uid)
    t.equal(response.allowed, true)
    t.equal(response.patch !== undefined, outcome.isJudged)
    t.equal(counted.length, outcome.isJudged ? 1 : 0)
  })
}
