import { cut, escapeControls } from '../../shared/engine/format-value.ts'
import { byteLength } from '../../shared/engine/json/json.ts'

// The API server cuts a warning at 256 characters when all of them together pass 4,096; ours never do.
const EXPLANATION_LIMIT = 256
export const COMMAND_LIMIT = 700
const MESSAGE_LIMIT = 2_048
/** What a denial says before its commands. */
export const DENIAL_EXPLANATION_LIMIT = 700
export const DENIAL_COMMAND_LIMIT = MESSAGE_LIMIT - DENIAL_EXPLANATION_LIMIT

/** One line of a message, in the wordings it may take: the first that there is room for is said. */
export interface Line {
  /** What is said first when there is no room for all: 0 is the most important. */
  readonly rank: number
  readonly wordings: readonly string[]
}

/** A warning that explains something, and may lose its end; never a command, which may not. */
export const explanation = (rank: number, text: string): Line => ({
  rank,
  wordings: [cut(text, EXPLANATION_LIMIT)],
})

/** The warnings that there is room for. */
export const warnings = (lines: readonly Line[]) => fitted(lines, MESSAGE_LIMIT)

/** The message of a denial: what was denied, which may lose its end, and the lines that there is room for. */
export const denial = (
  what: string,
  lines: readonly Line[],
  limit = DENIAL_EXPLANATION_LIMIT,
): string => fitted([{ rank: 0, wordings: [cut(what, limit)] }, ...lines], MESSAGE_LIMIT).join('\n')

/** The lines that fit in `limit` bytes, in their order; the least important ones are left out, none is cut. */
export function fitted(lines: readonly Line[], limit: number): readonly string[] {
  let left = limit
  const said = new Map<Line, string>()
  for (const line of lines.toSorted((a, b) => a.rank - b.rank)) {
    const wording = line.wordings.map(escapeControls).find((text) => byteLength(text) < left)
    if (wording === undefined) continue
    // The byte more is the line's end.
    left -= byteLength(wording) + 1
    said.set(line, wording)
  }
  return lines.flatMap((line) => said.get(line) ?? [])
}
