import t from 'tap'
import { line, markdownOf, numberText } from '../../../tools/bench/table.ts'

t.test(
  'a section is a table that can be read as it is, and what must be known of it',
  async (t) => {
    const text = markdownOf({
      title: 'Decisions',
      lines: [
        line('HyperConverged', 'ms', { median: 12.345, p99: 150, n: 30 }, 'under 50 ms'),
        line('  requests', '', 3),
        line('correction', '/s', { median: 12_345, range: [9_999.4, 20_000], n: 1_000 }),
        line('processor time', 's', { median: Number.NaN, range: [Number.NaN, Number.NaN] }),
      ],
      notes: ['In turn.'],
    })
    t.equal(
      text,
      `### Decisions

|                | median       | p99 or range   | n     | goal        |
| -------------- | ------------ | -------------- | ----- | ----------- |
| HyperConverged | 12.3 ms      | 150            | 30    | under 50 ms |
| &emsp;requests | 3            |                |       |             |
| correction     | 12,345 /s    | 9,999 – 20,000 | 1,000 |             |
| processor time | not measured |                |       |             |

- In turn.`,
    )
  },
)

t.test('numbers show the digits that matter', async (t) => {
  for (const [value, text] of [
    [0, '0'],
    [3, '3'],
    [1.666, '1.67'],
    [9.5, '9.50'],
    [12.345, '12.3'],
    [-8.381, '-8.38'],
    [454.4, '454'],
    [12_345.6, '12,346'],
    [undefined, ''],
  ] as const)
    t.equal(numberText(value), text)
})
