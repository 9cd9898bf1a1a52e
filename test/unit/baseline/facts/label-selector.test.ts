import t from 'tap'
import { isSelected } from '../../../../src/shared/baseline/facts/label-selector.ts'

const LABELS = { role: 'worker', zone: 'a' }
const expression = (key: string, operator: string, ...values: readonly string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
})

const selectors: readonly (readonly [what: string, selector: unknown, selects: boolean])[] = [
  ['nothing at all', undefined, false],
  ['no map', 'role=worker', false],
  ['nothing', {}, false],
  ['an empty map and an empty list', { matchLabels: {}, matchExpressions: [] }, false],
  ['a label', { matchLabels: { role: 'worker' } }, true],
  ['another value', { matchLabels: { role: 'infra' } }, false],
  ['two labels', { matchLabels: { role: 'worker', zone: 'a' } }, true],
  ['two labels of which one is another', { matchLabels: { role: 'worker', zone: 'b' } }, false],
  ['one of several values', expression('role', 'In', 'worker', 'infra'), true],
  ['one of several others', expression('role', 'In', 'gpu', 'infra'), false],
  ['a value that is no list', expression('role', 'In'), false],
  ['none of some values', expression('role', 'NotIn', 'master'), true],
  ['none of some values, of which it is one', expression('role', 'NotIn', 'worker'), false],
  ['none of some values, without the label', expression('size', 'NotIn', 'big'), true],
  ['that there is a label', expression('zone', 'Exists'), true],
  ['that there is another', expression('size', 'Exists'), false],
  ['that there is none', expression('size', 'DoesNotExist'), true],
  ['that there is none, where there is', expression('zone', 'DoesNotExist'), false],
  ['an operator that is none', expression('size', 'Like', 'b*'), true],
  ['an expression that is none', { matchExpressions: ['role'] }, true],
  [
    'a label and an expression that is not met',
    { matchLabels: { role: 'worker' }, ...expression('zone', 'In', 'b') },
    false,
  ],
]

for (const [what, selector, selects] of selectors) {
  t.test(`${selects ? 'selects' : 'does not select'} what asks for ${what}`, async (t) => {
    t.equal(isSelected(selector, LABELS), selects)
  })
}
