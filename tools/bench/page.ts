import { markdownTable } from '../generate/markdown-table.ts'
import { withMarked } from '../generate/marked.ts'
import { cellsOf, type Grid, HEAD, type Section } from './table.ts'

/** The page with the numbers. */
export const PAGE = 'docs/performance.md'

/** What was measured, and when. */
export interface Measurement {
  readonly name: string
  readonly section: Section
  /** When it ended. */
  readonly date: Date
  readonly seconds: number
  /** How many programs wanted a core in the minute before it began, and in the one before it ended. */
  readonly load: readonly [before: number, after: number]
}

/** What it was measured on. */
export interface Machine {
  /** Of all that took part, such as `Node 24.1.0`. */
  readonly versions: readonly string[]
  readonly cores: number
  readonly cpu: string
}

const COMMAND = 'npm run bench -- --write'

/**
 * Looks for the places of these measurements, before half an hour is spent on measuring.
 *
 * @throws where the place of one is gone, naming the page and the lines
 */
export function requirePlaces(text: string, names: readonly string[]): void {
  for (const name of names) withMarked({ name: PAGE, text }, `bench ${name}`, '', COMMAND)
}

/**
 * The page with these measurements in their places; all others stay.
 *
 * @throws where the place of one is gone, naming the page and the lines
 */
export const withMeasurements = (
  text: string,
  machine: Machine,
  measurements: readonly Measurement[],
): string =>
  measurements.reduce((text, measurement) => {
    const made = markdownOf(machine, measurement)
    return withMarked({ name: PAGE, text }, `bench ${measurement.name}`, made, COMMAND)
  }, text)

/** A measurement as Markdown: its table, its grids, what a reader must know, and where the numbers are from. */
export function markdownOf(machine: Machine, measurement: Measurement): string {
  const { title, lines, grids = [], notes = [] } = measurement.section
  const rows = lines.map((line) => cellsOf(line).map(indented))
  return [
    `### ${title}`,
    markdownTable(HEAD, rows),
    ...grids.map(gridOf),
    ...(notes.length > 0 ? [notes.map((note) => `- ${note}`).join('\n')] : []),
    provenance(machine, measurement),
  ].join('\n\n')
}

const gridOf = ({ title, head, rows }: Grid) => `**${title}**\n\n${markdownTable(head, rows)}`

// Spaces at the start of a cell are not shown.
const indented = (cell: string) => cell.replace(/^ +/, '&emsp;')

function provenance(
  { versions, cores, cpu }: Machine,
  { name, section, date, seconds, load }: Measurement,
): string {
  const when = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const all = [...versions, ...(section.versions ?? [])].join(', ')
  const [before, after] = load.map((value) => value.toFixed(1))
  return `Measured ${when} in ${Math.round(seconds)} s by \`npm run bench -- --only ${name}\`: ${all}; ${cores} × ${cpu}, load ${before} → ${after}.`
}
