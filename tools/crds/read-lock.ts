import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

import { LOCK_FILE } from '../control-plane/definitions.ts'
import type { Lock } from './lock.ts'
import { mistakesIn } from './lock-mistakes.ts'

/** Reads the lock file of a folder; throws with every mistake in it. */
export function readLock(folder: string): Lock {
  const file = join(folder, LOCK_FILE)
  const lock = parse(readFileSync(file, 'utf8')) as Lock
  const mistakes = mistakesIn(lock)
  if (mistakes.length > 0) throw new Error(`${file}:\n${mistakes.join('\n')}`)
  return lock
}
