import { withMarked } from '../generate/marked.ts'
import { markdownOf, type Section } from './table.ts'

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

/** The page with something in the places of these measurements; throws what names the page and the lines where a place is gone. */
export const withPlaces = (text: string, made: Readonly<Record<string, string>>): string =>
  Object.entries(made).reduce(
    (text, [name, markdown]) =>
      withMarked({ name: PAGE, text }, `bench ${name}`, markdown, 'npm run bench -- --write'),
    text,
  )

/** A measurement as Markdown, and where its numbers are from. */
export function measurementText(
  { versions, cores, cpu }: Machine,
  { name, section, date, seconds, load }: Measurement,
): string {
  const when = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const all = [...versions, ...(section.versions ?? [])].join(', ')
  const [before, after] = load.map((value) => value.toFixed(1))
  return `${markdownOf(section)}

Measured ${when} in ${Math.round(seconds)} s by \`npm run bench -- --only ${name}\`: ${all}; ${cores} × ${cpu}, load ${before} → ${after}.`
}
