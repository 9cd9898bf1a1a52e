import type { Outcome } from './renew.ts'

/** What became of one file. */
export interface Renewed {
  readonly file: string
  readonly outcome: Outcome
}

/** What is to be said of all files, and whether the command has failed. */
export interface Report {
  readonly lines: readonly string[]
  readonly isFailure: boolean
}

/** Names the files that were written, that differ, and, reason by reason, that could not be derived. */
export function reportOn(renewed: readonly Renewed[]): Report {
  const filesOf = (kind: Outcome['kind']) =>
    renewed.filter(({ outcome }) => outcome.kind === kind).map(({ file }) => file)
  const written = filesOf('written')
  const differing = filesOf('differs')
  const failures = renewed.flatMap(({ file, outcome }) =>
    outcome.kind === 'failed' ? [{ file, why: outcome.why }] : [],
  )
  const byReason = Map.groupBy(failures, ({ why }) => why)
  return {
    lines: [
      ...written.map((file) => `written: ${file}`),
      ...differing.map((file) => `differs: ${file}`),
      ...[...byReason].flatMap(([why, files]) => [
        `left as it was, since ${why}`,
        ...files.map(({ file }) => `  ${file}`),
      ]),
      `${filesOf('current').length} current, ${written.length} written, ${differing.length} differ, ${failures.length} left as they were`,
    ],
    isFailure: differing.length > 0 || failures.length > 0,
  }
}
