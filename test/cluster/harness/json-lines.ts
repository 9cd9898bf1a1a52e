import type { Loose } from './autopilot-fixture.ts'

/** What a file holds that somebody still writes to, one value a line: the last line may be half written. */
export const jsonLines = (text: string): readonly Loose[] =>
  text
    .split('\n')
    .slice(0, -1)
    .filter(Boolean)
    .map((line) => JSON.parse(line))
