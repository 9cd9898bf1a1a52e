import { escapeControls } from '../../shared/engine/format-value.ts'
import { inColumns } from '../render/formats.ts'
import type { Row } from './rows.ts'

/** What there is to print of a status. */
export interface Rows {
  /** The parts of the product itself. */
  readonly parts: readonly Row[]
  readonly assets: readonly Row[]
}

/** How `status` prints, by the name of its `-o`. */
export const FORMATS = { text, wide, json } as const satisfies Readonly<
  Record<string, (rows: Rows) => string>
>

function text({ parts, assets }: Rows): string {
  return inColumns([
    ['NAME', 'HEALTH', 'STATE', 'WHY', 'WHAT TO DO'],
    ...[...parts, ...assets].map(({ name, health, state, why, todo }) =>
      cells([name, health, state, short(why), todo]),
    ),
  ])
}

/** With nothing cut, the object and the last event. */
function wide({ parts, assets }: Rows): string {
  return inColumns([
    ['NAME', 'HEALTH', 'STATE', 'OBJECT', 'WHY', 'WHAT TO DO', 'LAST WARNING'],
    ...[...parts, ...assets].map(({ name, health, state, object, why, todo, lastEvent }) =>
      cells([name, health, state, object ?? '-', why, todo, lastEvent ?? '']),
    ),
  ])
}

function json(rows: Rows): string {
  return `${JSON.stringify(rows, undefined, 2)}\n`
}

const cells = (row: readonly string[]) => row.map((cell) => escapeControls(cell) || '-')

const LIMIT = 80

const short = (why: string) => (why.length > LIMIT ? `${why.slice(0, LIMIT - 1)}…` : why)
