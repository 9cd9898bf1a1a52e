import { type Diagnostic, PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs'
import type { Finding } from './finding.ts'

const RULES = [
  ...['E', 'F', 'W', 'I', 'N', 'D', 'UP'], // mistakes, names, docstrings, what has a newer form
  ...['A', 'ARG', 'B', 'BLE', 'PL', 'RET', 'RUF', 'S', 'T10'], // what is probably wrong, or unsafe
  ...['C4', 'C90', 'ERA', 'PERF', 'PIE', 'SIM'], // what can be simpler
]

const ruff = new Workspace(
  {
    'target-version': 'py39', // RHEL 9
    'line-length': 120,
    lint: {
      select: RULES,
      // Programs are started by a list of arguments, of which a script's own user is the author.
      ignore: ['S603'],
      pydocstyle: { convention: 'google' },
    },
  },
  PositionEncoding.Utf32,
)

/** What ruff finds in a Python script. */
export function lintPython(text: string): readonly Finding[] {
  const diagnostics: readonly Diagnostic[] = ruff.check(text)
  return diagnostics.map(({ code, message, start_location: { row, column } }) => ({
    line: row,
    column,
    rule: code ?? 'syntax',
    message,
  }))
}

/** A Python script as ruff lays it out; unchanged where it is no Python. */
export function formatPython(text: string): string {
  try {
    return ruff.format(text)
  } catch {
    return text // the linter names the place
  }
}
