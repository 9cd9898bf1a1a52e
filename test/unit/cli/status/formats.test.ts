import t from 'tap'

import { FORMATS } from '../../../../src/cli/status/formats.ts'
import type { Row } from '../../../../src/cli/status/rows.ts'

const parts: readonly Row[] = [
  { name: 'settings', health: 'ok', state: 'On', why: 'every asset is kept', todo: '' },
]
const assets: readonly Row[] = [
  {
    name: 'metallb',
    health: 'wrong',
    state: 'Drifted',
    why: `differs\n${'x'.repeat(100)}`,
    todo: 'see the log',
    object: 'MetalLB n/metallb',
    lastEvent: 'ApplyFailed: \u001b[2J',
  },
]

t.test('text: one line each, in columns, what is long cut', async (t) => {
  const lines = FORMATS.text({ parts, assets }).trimEnd().split('\n')
  t.same(
    lines.map((line) => line.split(/ {2,}/).slice(0, 3)),
    [
      ['NAME', 'HEALTH', 'STATE'],
      ['settings', 'ok', 'On'],
      ['metallb', 'wrong', 'Drifted'],
    ],
  )
  t.match(lines[2], /differs\\u000ax+… {2}see the log$/)
  t.match(lines[1], /kept +-$/)
})

t.test('wide: the object and the last warning too, and nothing cut', async (t) => {
  const lines = FORMATS.wide({ parts, assets }).trimEnd().split('\n')
  t.match(
    lines[2],
    /MetalLB n\/metallb {2}differs\\u000ax{100} {2}see the log {2}ApplyFailed: \\u001b\[2J$/,
  )
})

t.test('json: everything', async (t) => {
  t.same(JSON.parse(FORMATS.json({ parts, assets })), { parts, assets })
})
