import t from 'tap'

import { type Problem, sentenceOf } from '../../../src/shared/engine/problem.ts'
import { cut, showValue } from '../../../src/shared/engine/show.ts'
import { isDiscreet } from '../../../src/webhook/baseline/decide/remedy.ts'
import { explanation, fitted } from '../../../src/webhook/baseline/words/wording.ts'
import { createKeyedLimit, createOncePer } from '../../../src/webhook/server/rate-limits.ts'

const problem = (message: string): Problem => ({
  reason: 'InvalidPatch',
  annotation: 'platform.kubevirt.io/patch',
  message,
})

t.test('names the annotation in every sentence about a problem, and once', async (t) => {
  const sentences: [message: string, sentence: string][] = [
    ['must be short', 'platform.kubevirt.io/patch must be short'],
    ['is refused', 'platform.kubevirt.io/patch is refused'],
    ['operation 0: no', 'platform.kubevirt.io/patch: operation 0: no'],
    ['platform.kubevirt.io/patch must be short', 'platform.kubevirt.io/patch must be short'],
  ]
  for (const [message, sentence] of sentences) t.equal(sentenceOf(problem(message)), sentence)
})

t.test('shows no value under a pointer that names a secret anywhere', async (t) => {
  const values: [pointer: string, value: unknown, text: string, isDiscreet: boolean][] = [
    ['/spec/a', 'x', '"x"', true],
    ['/spec/a', undefined, 'nothing', true],
    ['/spec/password', undefined, 'nothing', true],
    ['/spec/password', 'x', '(hidden)', false],
    ['/spec/tokens/0/value', 'x', '(hidden)', false],
    ['/spec/a', { clientSecret: 'x' }, '{"clientSecret":"(hidden)"}', false],
    ['/spec/a', 'data:;base64,eA==', '(a payload of 17 characters)', false],
    ['/spec/a', ['data:;base64,eA=='], '["(payload)"]', false],
  ]
  for (const [pointer, value, text, discreet] of values) {
    t.equal(showValue(pointer, value), text)
    t.equal(isDiscreet(pointer, value), discreet)
  }
  t.notOk(isDiscreet('/spec/a', { long: 'x'.repeat(20_000), token: 'x' }))
})

t.test('cuts to bytes, between characters, after making the text safe', async (t) => {
  const texts: [text: string, limit: number, cut: string][] = [
    ['abc', 3, 'abc'],
    ['abcd', 3, '…'],
    ['abcdef', 5, 'ab…'],
    ['éééé', 7, 'éé…'],
    ['😀😀', 8, '😀😀'],
    ['😀😀', 7, '😀…'],
    ['a\nb', 8, 'a\\u000ab'],
    ['a\u202eb', 7, 'a\\u2…'],
  ]
  for (const [text, limit, expected] of texts) t.equal(cut(text, limit), expected)
})

t.test('leaves out the least important lines, and cuts none', async (t) => {
  const line = (rank: number, ...wordings: string[]) => ({ rank, wordings })
  t.strictSame(fitted([line(1, 'one'), line(0, 'two'), line(2, 'three')], 100), [
    'one',
    'two',
    'three',
  ])
  t.strictSame(fitted([line(1, 'one'), line(0, 'two'), line(2, 'three')], 9), ['one', 'two'])
  t.strictSame(fitted([line(1, 'one'), line(0, 'two')], 4), ['two'])
  t.strictSame(fitted([line(0, 'too long', 'short'), line(1, 'x')], 8), ['short', 'x'])
  t.strictSame(fitted([line(0)], 9), [])
  t.strictSame(fitted([line(0, 'a\nb')], 9), ['a\\u000ab'])
  t.strictSame(explanation(3, 'abcdef', 5), line(3, 'ab…'))
})

t.test('lets a key through once per interval', async (t) => {
  const once = createOncePer(1_000, 10)
  const asked: [key: string, now: number, isAdmitted: boolean][] = [
    ['a', 0, true],
    ['a', 999, false],
    ['b', 500, true],
    ['a', 1_000, true],
    ['b', 1_499, false],
    ['b', 1_500, true],
    ['a', 1_999, false],
  ]
  for (const [key, now, isAdmitted] of asked)
    t.equal(once(key, now), isAdmitted, `${key} at ${now}`)
})

t.test('forgets the oldest key when there are too many', async (t) => {
  const once = createOncePer(1_000, 2)
  const admitted = ['a', 'b', 'a', 'c', 'a', 'c'].map((key) => once(key, 0))
  t.strictSame(admitted, [true, true, false, true, true, false])
})

t.test('lets each key through as its own bucket allows', async (t) => {
  const limit = createKeyedLimit({ capacity: 2, refillMs: 1_000 }, 2)
  const admitted = ['a', 'a', 'a', 'b'].map((key) => limit(key, 0))
  t.strictSame(admitted, [true, true, false, true])
  t.strictSame([limit('a', 1_000), limit('a', 1_000)], [true, false])
  t.ok(limit('c', 1_000))
  t.strictSame([limit('b', 1_000), limit('b', 1_000)], [true, true], 'it was the oldest')
})
