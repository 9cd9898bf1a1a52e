import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '../harness/fixture.ts'

/** The wall clock of one process, which a test sets. */
export interface Clock {
  /** What the process is started with. */
  readonly env: { readonly NODE_OPTIONS: string }
  /** Sets it off the true time by so many milliseconds. */
  readonly set: (ms: number) => void
}

/** Makes a clock that shows the true time at first; it ends with the test. */
export function createClock(t: Scope): Clock {
  const folder = mkdtempSync(join(tmpdir(), 'autopilot-clock-'))
  t.teardown(async () => rmSync(folder, { recursive: true }))
  const file = join(folder, 'clock')
  const set = (ms: number) => writeFileSync(file, String(ms))
  set(0)
  const preload = `${import.meta.resolve('./jumping-clock.ts')}?file=${file}`
  return { env: { NODE_OPTIONS: `--import=${preload}` }, set }
}
