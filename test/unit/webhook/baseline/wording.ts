import t from 'tap'
import { cut, formatValue } from '../../../../src/shared/engine/format-value.ts'
import { type Problem, sentenceOf } from '../../../../src/shared/engine/problem.ts'
import { isDiscreet } from '../../../../src/webhook/baseline/decide/remedy.ts'
import { explanation, fitted } from '../../../../src/webhook/server/wording.ts'

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
    t.equal(formatValue(pointer, value), text)
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
  t.strictSame(explanation(3, 'a'.repeat(300)), line(3, cut('a'.repeat(300), 256)))
})
