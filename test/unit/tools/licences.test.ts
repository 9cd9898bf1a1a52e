import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Lock, licencesIn } from '../../../tools/licences.ts'

const read = () => JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

t.test('every dependency that ships is under a licence that we take', async (t) => {
  const { lines, refused } = licencesIn(read())
  t.same(refused, [])
  t.ok(lines.some((line) => /^MIT: [1-9]\d* that ship/.test(line)))
})

t.test('licences', async (t) => {
  const packages = {
    '': { license: 'Apache-2.0' },
    'node_modules/a': { license: 'GPL-3.0-only' },
    'node_modules/b/node_modules/c': { license: '(GPL-2.0 OR MIT)' },
    'node_modules/d': { license: 'GPL-3.0-only', dev: true },
    'node_modules/e': {},
  }
  t.same(licencesIn({ packages }), {
    lines: [
      '(GPL-2.0 OR MIT): 1 that ship, 0 for development',
      'GPL-3.0-only: 1 that ship, 1 for development',
      'none: 1 that ship, 0 for development',
    ],
    refused: ['a (GPL-3.0-only)', 'e (none)'],
  })
})
