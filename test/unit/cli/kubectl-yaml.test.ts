import t from 'tap'

import { documentsIn } from '../../../src/cli/read-objects.ts'
import { MAPS, SCALARS, statedIn, stating } from './kubectl-scalars.ts'

t.test('YAML means what kubectl takes it for', async (t) => {
  const all: typeof SCALARS = [...SCALARS, ...MAPS]
  const text = stating(all.map(([text]) => text))
  const stated = documentsIn('f', text).flatMap(({ value }) => statedIn(value))
  for (const [index, [text, value]] of all.entries()) t.strictSame(stated[index], value, text)
})

t.test('what cannot be merged is told', async (t) => {
  for (const text of ['{<<: 1}', '{<<: }', '{<<: [{}, 1]}', '{<<: *none}'])
    t.throws(() => documentsIn('f', text), /^cannot read f: /, text)
})

t.test('merges that multiply are refused at once', async (t) => {
  const names = [...'bcdefghij']
  const lines = names.map((name, index) => {
    const sources = `*${'abcdefghi'[index]},`.repeat(9)
    return `${name}: &${name} {<<: [${sources}]}`
  })
  t.throws(() => documentsIn('f', `a: &a {x: 1}\n${lines.join('\n')}\n`), /Excessive alias count/)
})
