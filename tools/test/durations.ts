import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FileResult } from './run-file.ts'

// How long each test file took here last.
const FILE = '.tap/durations.json'

type Durations = Readonly<Record<string, number>>

/** Sorts files so that the longest ones start first: else the last of them runs alone. New ones come before them all. */
export function longestFirst(files: readonly string[]): readonly string[] {
  const durations = read()
  const secondsOf = (file: string) => durations[file] ?? Number.POSITIVE_INFINITY
  return files.toSorted((a, b) =>
    secondsOf(a) < secondsOf(b) ? 1 : secondsOf(a) > secondsOf(b) ? -1 : a.localeCompare(b),
  )
}

/** Remembers how long files took. */
export function keepDurations(results: readonly FileResult[]): void {
  const taken = results.map(({ file, seconds }) => [file, Math.round(seconds * 10) / 10])
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(FILE, JSON.stringify({ ...read(), ...Object.fromEntries(taken) }, null, 1))
}

function read(): Durations {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Durations
  } catch {
    return {} // the first run
  }
}
