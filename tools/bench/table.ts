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
  readonly head?: readonly string[]
  readonly notes?: readonly string[]
  /** Of whatever else than the product took part, such as `Go 1.26.8`. */
  readonly versions?: readonly string[]
}

/** A line of the table; two spaces in front say that it belongs to the line above. */
export const line = (what: string, unit: string, measured: number | Summary, goal = ''): Line => ({
  what,
  unit,
  ...(typeof measured === 'number' ? { median: measured } : measured),
  goal,
})

const HEAD = ['', 'median', 'p99 or range', 'n', 'goal']

/** A section as Markdown, with columns that can be read as they are. */
export function markdownOf({ title, lines, head = HEAD, notes = [] }: Section): string {
  const rows = lines.map(cellsOf)
  const widthOf = (column: number) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0))
  const widths = head.map((_, column) => widthOf(column))
  const rule = widths.map((width) => '-'.repeat(Math.max(3, width)))
  const table = [head, rule, ...rows]
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n')
  const list = notes.map((note) => `- ${note}`).join('\n')
  return [`### ${title}`, table, list].filter(Boolean).join('\n\n')
}

function cellsOf({ what, unit, median, p99, range, n, goal }: Line): readonly string[] {
  // Spaces at the start of a cell are not shown.
  const name = what.replace(/^ +/, '&emsp;')
  if (Number.isNaN(median)) return [name, 'not measured', '', '', goal]
  return [
    name,
    `${numberText(median)} ${unit}`.trimEnd(),
    range ? range.map(numberText).join(' – ') : numberText(p99),
    n === undefined ? '' : n.toLocaleString('en'),
    goal,
  ]
}

/** Three digits that matter, more for large numbers, none after the point for whole ones. */
export function numberText(value = Number.NaN): string {
  if (Number.isNaN(value)) return ''
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2
  const options = { maximumFractionDigits: digits, minimumFractionDigits: digits }
  return value.toLocaleString('en', Number.isInteger(value) ? {} : options)
}
