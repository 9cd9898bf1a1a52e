/** One thing that was measured. */
export interface Line {
  readonly what: string
  readonly unit: string
  /** Undefined: it cannot be measured on this machine. */
  readonly median: number | undefined
  readonly p99?: number
  readonly range?: readonly [smallest: number, largest: number]
  readonly n?: number
  readonly goal?: string
}

/** What one measurement gives, and what a reader must know about it. */
export interface Section {
  readonly title: string
  readonly lines: readonly Line[]
  /** What is measured in too many ways for lines. */
  readonly grids?: readonly Grid[]
  readonly notes?: readonly string[]
  /** Of whatever else than the product took part, such as `Go 1.26.8`. */
  readonly versions?: readonly string[]
}

/** A table of its own: the first column names a row, all others are numbers. */
export interface Grid {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export const HEAD = ['', 'median', 'p99 or range', 'n', 'goal'] as const
const GAP = '  '

/** All sections as plain text, in columns that are aligned throughout. */
export function tableOf(sections: readonly Section[]): string {
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...sections.flatMap(cellsIn).map((cells) => cells[column]?.length ?? 0)),
  )
  const rowOf = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return isNumeric(column) ? cell.padStart(width) : cell.padEnd(width)
      })
      .join(GAP)
      .trimEnd()
  const blocks = sections.map((section) => [
    section.title,
    ...cellsIn(section).map(rowOf),
    ...(section.grids ?? []).flatMap(gridText),
    ...(section.notes ?? []).map((note) => `    ${note}`),
  ])
  return [rowOf(HEAD), ...blocks.flatMap((block) => ['', ...block])].join('\n')
}

function gridText({ title, head, rows }: Grid): readonly string[] {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const rowOf = (cells: readonly string[]) =>
    cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
  return ['', `  ${title}`, ...all.map((row) => `    ${rowOf(row).join(GAP)}`.trimEnd())]
}

const isNumeric = (column: number) => column >= 1 && column <= 3

const GOAL = HEAD.indexOf('goal')
const cellsIn = ({ lines }: Section) =>
  lines.map((line) => cellsOf(line).with(GOAL, line.goal ? `goal: ${line.goal}` : ''))

/** A line as cells under the head. */
export function cellsOf({ what, unit, median, p99, range, n, goal = '' }: Line): string[] {
  return [
    `  ${what}`,
    median === undefined ? 'not measured' : `${numberText(median)} ${unit}`,
    range ? range.map(numberText).join(' – ') : numberText(p99),
    n === undefined ? '' : n.toLocaleString('en'),
    goal,
  ]
}

/** Three digits that matter, more for large numbers, none after the point for whole ones. */
export function numberText(value: number | undefined): string {
  if (value === undefined) return ''
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2
  const options = { maximumFractionDigits: digits, minimumFractionDigits: digits }
  return value.toLocaleString('en', Number.isInteger(value) ? {} : options)
}
