import t from 'tap'
import { numberText, tableOf } from '../../../tools/bench/table.ts'

t.test('all sections share their columns', async (t) => {
  const table = tableOf([
    {
      title: 'Healing',
      lines: [
        {
          what: 'HyperConverged',
          unit: 'ms',
          median: 12.345,
          p99: 150,
          n: 30,
          goal: 'under 50 ms',
        },
        { what: '  requests', unit: '', median: 3 },
      ],
      notes: ['By the audit log.'],
    },
    {
      title: 'Decisions',
      lines: [
        { what: 'correction', unit: '/s', median: 12_345, range: [9_999.4, 20_000], n: 1_000 },
        { what: 'processor time', unit: 's', median: undefined },
      ],
    },
  ])
  t.equal(
    table,
    `
                        median    p99 or range      n  goal

Healing
  HyperConverged       12.3 ms             150     30  goal: under 50 ms
    requests                3
    By the audit log.

Decisions
  correction         12,345 /s  9,999 – 20,000  1,000
  processor time  not measured`.slice(1),
  )
})

t.test('a grid has columns of its own, and numbers stand at their right', async (t) => {
  const table = tableOf([
    {
      title: 'Servers',
      lines: [],
      grids: [
        {
          title: 'asked much',
          head: ['', '/s'],
          rows: [
            ['one', '1,000'],
            ['the other', '20'],
          ],
        },
      ],
      notes: ['In turn.'],
    },
  ])
  t.equal(
    table,
    `
  median  p99 or range  n  goal

Servers

  asked much
                  /s
    one        1,000
    the other     20
    In turn.`.slice(1),
  )
})

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
