import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

import { type Measurement, measurementText, PAGE, withPlaces } from '../../../tools/bench/page.ts'
import { MEASURES } from '../../../tools/bench/sections.ts'
import { line, markdownOf } from '../../../tools/bench/table.ts'

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
    lines: [line('HyperConverged', 'ms', { median: 12.3, p99: 50, n: 30 }, 'under 50 ms')],
    notes: ['By the audit log.'],
    versions: ['Go 1.26.8'],
  },
}

t.test('a measurement says what was measured, when, where and with what', async (t) => {
  t.equal(
    measurementText(machine, heal),
    `${markdownOf(heal.section)}

Measured 2026-05-04 03:02 UTC in 12 s by \`npm run bench -- --only heal\`: Node 24.1.0, Kubernetes 1.36.3, Go 1.26.8; 2 × Some Processor, load 0.1 → 1.5.`,
  )
})

t.test('a measurement takes its place, and everything else stays as it was', async (t) => {
  const once = withPlaces(page, { heal: 'Healing' })
  t.match(once, '\nHealing\n<!-- end of bench heal -->')
  const twice = withPlaces(once, { idle: 'Idling' })
  t.match(twice, '\nHealing\n<!-- end of bench heal -->')
  t.equal(withPlaces(twice, { heal: 'Healing', idle: 'Idling' }), twice)
  const [handWritten = ''] = page.split('<!-- bench')
  t.ok(twice.startsWith(handWritten))
})

t.test('a page without a place for a measurement says what it has lost', async (t) => {
  const lost = page.replace('<!-- end of bench heal -->', '')
  const complaint = /docs\/performance\.md has lost the lines .*bench heal.*: put them back/
  t.throws(() => withPlaces(lost, { idle: '', heal: '' }), complaint)
  t.doesNotThrow(() => withPlaces(lost, { idle: '' }))
})

t.test(
  'docs/performance.md has a place and a question for every measurement, and no other',
  async (t) => {
    t.doesNotThrow(() => withPlaces(page, Object.fromEntries(NAMES.map((name) => [name, '']))))
    const placed = [...page.matchAll(/^<!-- bench (\w+):/gm)].map(([, name]) => name)
    const asked = [...page.matchAll(/^\| `(\w+)` \| .*\?/gm)].map(([, name]) => name)
    t.same(placed.sort(), [...NAMES].sort())
    t.same(asked.sort(), [...NAMES].sort())
  },
)
