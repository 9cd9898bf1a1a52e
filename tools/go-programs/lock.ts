import { lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../control-plane/processes.ts'

const POLL_MS = 200
const STALE_AFTER_MS = 30 * 60 * 1000

/** Does a task while no other process does one under the same lock file. */
export async function withLock(
  lock: string,
  isWaiting: (released: Promise<void>) => Promise<void>,
  task: () => Promise<void>,
): Promise<void> {
  while (!take(lock)) await isWaiting(released(lock))
  try {
    await task()
  } finally {
    rmSync(lock, { force: true })
  }
}

// A symbolic link appears together with its content, the process id.
function take(lock: string): boolean {
  try {
    symlinkSync(String(process.pid), lock)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function released(lock: string): Promise<void> {
  while (isHeld(lock)) await sleep(POLL_MS)
}

// Two that find a dead process's lock at once may both go on: a task has to stand that.
function isHeld(lock: string): boolean {
  try {
    const age = Date.now() - lstatSync(lock).mtimeMs
    if (isAlive(Number(readlinkSync(lock))) && age < STALE_AFTER_MS) return true
    rmSync(lock, { force: true })
    return false
  } catch {
    return false // released meanwhile
  }
}
