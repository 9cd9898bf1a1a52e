/** What was measured of one thing. NaN: it cannot be measured on this machine. */
export interface Summary {
  readonly median: number
  readonly p99?: number
  readonly range?: readonly [smallest: number, largest: number]
  readonly n?: number
}

/** One line of a section's table. */
export interface Line extends Summary {
  readonly what: string
  readonly unit: string
  readonly goal: string
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

/** A line of the table; two spaces in front say that it belongs to the line above. */
export const line = (what: string, unit: string, measured: number | Summary, goal = ''): Line => ({
  what,
  unit,
  ...(typeof measured === 'number' ? { median: measured } : measured),
  goal,
})

export const HEAD = ['', 'median', 'p99 or range', 'n', 'goal'] as const

/** A line as cells under the head. */
export function cellsOf({ what, unit, median, p99, range, n, goal }: Line): readonly string[] {
  if (Number.isNaN(median)) return [what, 'not measured', '', '', goal]
  return [
    what,
    `${numberText(median)} ${unit}`.trimEnd(),
    range ? range.map(numberText).join(' – ') : numberText(p99),
    n === undefined ? '' : n.toLocaleString('en'),
    goal,
  ]
}

/** A section as plain text. */
export function textOf({ title, lines, grids = [], notes = [] }: Section): string {
  const tables = lines.length > 0 ? [columns([HEAD, ...lines.map(cellsOf)])] : []
  return [
    title,
    ...tables,
    ...grids.map((grid) => `${grid.title}\n${columns([grid.head, ...grid.rows])}`),
    ...notes.map((note) => `    ${note}`),
  ].join('\n')
}

// Numbers stand at the right of their column, what they are of and the goal at the left.
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  )
  const padded = (cell: string, column: number) => {
    const width = widths[column] ?? 0
    return column === 0 || column === HEAD.indexOf('goal')
      ? cell.padEnd(width)
      : cell.padStart(width)
  }
  return rows.map((cells) => `  ${cells.map(padded).join('  ')}`.trimEnd()).join('\n')
}

/** Three digits that matter, more for large numbers, none after the point for whole ones. */
export function numberText(value = Number.NaN): string {
  if (Number.isNaN(value)) return ''
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2
  const options = { maximumFractionDigits: digits, minimumFractionDigits: digits }
  return value.toLocaleString('en', Number.isInteger(value) ? {} : options)
}
