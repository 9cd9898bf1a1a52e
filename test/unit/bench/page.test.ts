import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

import {
  type Measurement,
  markdownOf,
  PAGE,
  requirePlaces,
  withMeasurements,
} from '../../../tools/bench/page.ts'
import { MEASURES } from '../../../tools/bench/sections.ts'
import { line } from '../../../tools/bench/table.ts'

const NAMES = MEASURES.map(({ name }) => name)
const page = readFileSync(join(import.meta.dirname, '../../..', PAGE), 'utf8')
const machine = { versions: ['Node 24.1.0', 'Kubernetes 1.36.3'], cores: 2, cpu: 'Some Processor' }
const heal: Measurement = {
  name: 'heal',
  date: new Date('2026-05-04T03:02:01Z'),
  seconds: 12.3,
  load: [0.12, 1.5],
  section: {
    title: 'Healing',
    lines: [
      line('HyperConverged', 'ms', { median: 12.3, p99: 50, n: 30 }, 'under 50 ms'),
      line('  requests', '', 3),
      line('processor time', 's', Number.NaN),
    ],
    grids: [{ title: 'By kind', head: ['', 'ms'], rows: [['a|b', '1']] }],
    notes: ['By the audit log.'],
    versions: ['Go 1.26.8'],
  },
}

t.test('a measurement says what was measured, when, where and with what', async (t) => {
  t.equal(
    markdownOf(machine, heal),
    `### Healing

|  | median | p99 or range | n | goal |
|---|---|---|---|---|
| HyperConverged | 12.3 ms | 50 | 30 | under 50 ms |
| &emsp;requests | 3 |  |  |  |
| processor time | not measured |  |  |  |

**By kind**

|  | ms |
|---|---|
| a\\|b | 1 |

- By the audit log.

Measured 2026-05-04 03:02 UTC in 12 s by \`npm run bench -- --only heal\`: Node 24.1.0, Kubernetes 1.36.3, Go 1.26.8; 2 × Some Processor, load 0.1 → 1.5.`,
  )
})

t.test('a measurement takes its place, and everything else stays as it was', async (t) => {
  const once = withMeasurements(page, machine, [heal])
  t.match(once, markdownOf(machine, heal))
  const idle = { ...heal, name: 'idle' }
  const twice = withMeasurements(once, machine, [idle])
  t.equal(twice.split('### Healing').length, 3, 'both are there')
  t.equal(withMeasurements(twice, machine, [heal, idle]), twice)
  const [handWritten = ''] = page.split('<!-- bench')
  t.ok(twice.startsWith(handWritten))
})

t.test(
  'a page without a place for a measurement is told of before anything is measured',
  async (t) => {
    const lost = page.replace('<!-- end of bench heal -->', '')
    const complaint = /docs\/performance\.md has lost the lines .*bench heal.*: put them back/
    t.throws(() => requirePlaces(lost, ['idle', 'heal']), complaint)
    t.doesNotThrow(() => requirePlaces(lost, ['idle']))
  },
)

t.test(
  'docs/performance.md has a place and a question for every measurement, and no other',
  async (t) => {
    t.doesNotThrow(() => requirePlaces(page, NAMES))
    const placed = [...page.matchAll(/^<!-- bench (\w+):/gm)].map(([, name]) => name)
    const asked = [...page.matchAll(/^\| `(\w+)` \| .*\?/gm)].map(([, name]) => name)
    t.same(placed.sort(), [...NAMES].sort())
    t.same(asked.sort(), [...NAMES].sort())
  },
)
