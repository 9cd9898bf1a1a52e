import jsonPatch, { type Operation } from 'fast-json-patch'
import t from 'tap'
import { MODE, PREFIX } from '../../../../src/shared/baseline/annotations.ts'
import { createApp, type Handler } from '../../../../src/webhook/server/app.ts'
import { type AdmissionRequest, Refused } from '../../../../src/webhook/server/review.ts'
import { baselineOf, edited, handlersWith, type Json, requestFor } from '../known.ts'

const hco = baselineOf('hco-golden-config')
const swap = baselineOf('swap-enable')
const drifted = edited(hco, {
  spec: (spec) => {
    spec.uninstallStrategy = 'x' as unknown as Json
  },
})
const update = requestFor('UPDATE', { object: drifted, oldObject: hco })

const appWith = (handlers: { mutate: Handler; validate: Handler } = handlersWith()) => {
  const errors: Error[] = []
  const routes = { '/mutate': handlers.mutate, '/validate': handlers.validate }
  const app = createApp({ prefix: PREFIX, routes, onError: (error) => errors.push(error) })
  const post = async (payload: unknown, path = '/mutate', type = 'application/json') => {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: path,
      headers: { 'content-type': type },
      payload: text,
    })
    return { status: statusCode, body: JSON.parse(body) as Record<string, unknown>, text: body }
  }
  return { app, post, errors }
}

const reviewOf = (request: unknown) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request,
})

t.test('answers each review with its uid, in its own version', async (t) => {
  const { post } = appWith()
  const requests: [path: string, request: AdmissionRequest, isAllowed: boolean][] = [
    ['/mutate', update, true],
    ['/mutate', requestFor('CREATE', { object: hco }), true],
    [
      '/mutate',
      requestFor('UPDATE', {
        object: edited(hco, { annotations: { [MODE]: 'x' } }),
        oldObject: hco,
      }),
      false,
    ],
    ['/mutate', { ...update, kind: { group: 'apps', version: 'v1', kind: 'Deployment' } }, true],
    ['/mutate', { ...update, operation: 'CONNECT' }, true],
    ['/validate', update, false],
    ['/validate', { ...update, operation: 'CONNECT' }, true],
    ['/validate', requestFor('DELETE', { oldObject: swap }), false],
  ]
  for (const [index, [path, request, isAllowed]] of requests.entries()) {
    const { status, body } = await post(reviewOf({ ...request, uid: `uid-${index}` }), path)
    t.equal(status, 200)
    t.match(body, {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: `uid-${index}`, allowed: isAllowed },
    })
  }
})

t.test('answers a correction with a JSON patch that gives the corrected object', async (t) => {
  const { body } = await appWith().post(reviewOf(update))
  const { patch, patchType } = body.response as { patch: string; patchType: string }
  t.equal(patchType, 'JSONPatch')
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[]
  t.strictSame(jsonPatch.applyPatch(drifted, operations, true, false).newDocument, hco)
})

t.test('an answer may come later, and a handler may fail later', async (t) => {
  const later = async (request: AdmissionRequest) => {
    await new Promise((resolve) => setImmediate(resolve))
    if (request.dryRun) throw new Refused(400, 'no object')
    if (request.operation === 'DELETE') throw new Error('out of order')
    return { allowed: false, warnings: ['later'] }
  }
  const { post, errors } = appWith({ mutate: later, validate: later })
  const answered = await post(reviewOf({ ...update, uid: 'late' }))
  t.match(answered, {
    status: 200,
    body: { response: { uid: 'late', allowed: false, warnings: ['later'] } },
  })
  const refused = await post(reviewOf({ ...update, dryRun: true }))
  t.match(refused, { status: 400, body: { message: 'no object' } })
  t.strictSame(errors, [])
  t.equal((await post(reviewOf({ ...update, operation: 'DELETE' }))).status, 500)
  t.match(errors, [{ message: 'out of order' }])
})

t.test('refuses what is no review', async (t) => {
  const { post, errors } = appWith()
  const { uid: _uid, ...anonymous } = update
  const bad: [says: string, payload: unknown][] = [
    ['malformed JSON', '{'],
    ['nothing', ''],
    ['a list', []],
    ['null', 'null'],
    ['another version', { ...reviewOf(update), apiVersion: 'admission.k8s.io/v1beta1' }],
    ['another kind', { ...reviewOf(update), kind: 'Review' }],
    ['no version', { kind: 'AdmissionReview', request: update }],
    ['no request', reviewOf(undefined)],
    ['a request of null', reviewOf(null)],
    ['no uid', reviewOf(anonymous)],
    ['an empty uid', reviewOf({ ...update, uid: '' })],
    ['a uid that is a number', reviewOf({ ...update, uid: 1 })],
    ['an unknown operation', reviewOf({ ...update, operation: 'PATCH' })],
    ['a kind that is a string', reviewOf({ ...update, kind: 'Pod' })],
    ['no user', reviewOf({ ...update, userInfo: {} })],
    ['a dry run that is a string', reviewOf({ ...update, dryRun: 'true' })],
    ['an update to null', reviewOf({ ...update, object: null })],
    ['an update from nothing', reviewOf({ ...update, oldObject: undefined })],
    ['an update from null', reviewOf({ ...update, oldObject: null })],
  ]
  for (const [says, payload] of bad) {
    const { status, body } = await post(payload)
    t.equal(status, 400, says)
    t.strictSame(Object.keys(body), ['message'], says)
  }
  t.equal((await post('{}', '/mutate', 'application/yaml')).status, 415)
  t.strictSame(errors, [])
})

t.test('reads two objects of the largest size, and no more', async (t) => {
  const { post } = appWith()
  const padded = (size: number) => reviewOf({ ...update, options: 'x'.repeat(size) })
  t.equal((await post(padded(6 << 20))).status, 200)
  t.equal((await post(padded(7 << 20))).status, 413)
})

t.test('takes names that reach a prototype in careless code for what they are', async (t) => {
  const { post } = appWith()
  const text = JSON.stringify(reviewOf(update))
    .replaceAll(
      '"uninstallStrategy":"x"',
      '"uninstallStrategy":"x","__proto__":{"allowed":false},"constructor":{"prototype":{"a":1}}',
    )
    .replace('"uid":', '"__proto__":{"dryRun":true},"uid":')
  const { status, body } = await post(text)
  t.equal(status, 200)
  const { patch } = body.response as { patch: string }
  t.strictSame(JSON.parse(Buffer.from(patch, 'base64').toString()), [
    { op: 'replace', path: '/spec/uninstallStrategy', value: 'BlockUninstallIfWorkloadsExist' },
  ])
  t.notOk('allowed' in {} || 'a' in {})
})

t.test('lets the server choose a name', async (t) => {
  const { name: _name, ...request } = requestFor('CREATE', {
    object: { ...hco, metadata: { generateName: 'hco-' } },
  })
  const { body } = await appWith().post(reviewOf(request))
  t.match(body.response, { uid: 'c0ffee', allowed: true })
})

t.test('fails with a short text when it fails, so that failurePolicy decides', async (t) => {
  const fail = () => {
    throw new Error('secret of the handler')
  }
  const { post, errors } = appWith({ mutate: fail, validate: fail })
  for (const path of ['/mutate', '/validate']) {
    const { status, text } = await post(reviewOf(update), path)
    t.equal(status, 500)
    t.equal(text, '{"message":"the webhook failed; see its log"}')
  }
  t.equal(errors.length, 2)
})

t.test('has two paths, to post to', async (t) => {
  const { app } = appWith()
  for (const [method, url] of [
    ['GET', '/mutate'],
    ['GET', '/validate'],
    ['GET', '/'],
    ['POST', '/'],
    ['PUT', '/mutate'],
  ] as const) {
    t.equal((await app.inject({ method, url })).statusCode, 404, `${method} ${url}`)
  }
})

t.test('speaks TLS where it is to, with a certificate that may come later', async (t) => {
  const { routes } = handlersWith()
  const app = createApp({ prefix: PREFIX, routes, tls: {}, onError: () => t.fail('nothing fails') })
  t.ok('setSecureContext' in app.server)
  await app.close()
})
