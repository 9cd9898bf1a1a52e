import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Env } from '../../../src/shared/ops/env.ts'
import { build, buildFlags, kubernetesVersion } from './build.ts'
import { findGo, type Go } from './go.ts'
import { withLock } from './lock.ts'
import { withProgress } from './progress.ts'

const UNUSED_AFTER_MS = 24 * 60 * 60 * 1000

/** The folder with a module's control plane, built unless this very content was built before. */
export async function builtControlPlane(
  module: string,
  env: Env,
  print: (line: string) => void,
): Promise<string> {
  const go = await findGo(module, env)
  const cache = cacheFolder(env)
  const key = keyOf(module, go)
  const folder = join(cache, key)
  if (!isComplete(folder)) {
    mkdirSync(cache, { recursive: true })
    const waiting = (released: Promise<void>) =>
      withProgress('another process builds the control plane, waiting for it', released, print)
    await withLock(`${folder}.lock`, waiting, async () => {
      if (isComplete(folder)) return
      removeUnused(cache)
      await build({ module, go, folder, print }).catch((error: unknown) => {
        if (!isComplete(folder)) throw error // else another was faster
      })
    })
  }
  const now = new Date()
  utimesSync(folder, now, now)
  return folder
}

/** Where this user's caches are. */
export function cacheFolder(env: Env): string {
  const home = env.HOME || homedir()
  const caches = process.platform === 'darwin' ? 'Library/Caches' : '.cache'
  const root = env.XDG_CACHE_HOME ? resolve(env.XDG_CACHE_HOME) : join(home, caches)
  return join(root, 'virt-platform-autopilot', 'control-plane')
}

// All that decides what is built, byte by byte.
function keyOf(module: string, go: Go): string {
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(module, file)))
  const flags = buildFlags(kubernetesVersion(module))
  return hash
    .update(JSON.stringify([flags, go.version, go.platform]))
    .digest('hex')
    .slice(0, 32)
}

// The last of what is linked to.
const isComplete = (folder: string) => existsSync(join(folder, 'kubectl'))

// Older content, and what a build that was killed left; not what another clone uses these days.
function removeUnused(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    if (Date.now() - lstatSync(path).mtimeMs < UNUSED_AFTER_MS) continue
    rmSync(path, { recursive: true, force: true })
  }
}
