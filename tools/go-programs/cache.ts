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
import type { Env } from '../../src/shared/ops/env.ts'
import { build, buildFlags } from './build.ts'
import { findGo, type Go } from './go.ts'
import { withLock } from './lock.ts'
import { type GoProgram, MODULE, moduleOf } from './module.ts'
import { withProgress } from './progress.ts'

const UNUSED_AFTER_MS = 24 * 60 * 60 * 1000

/** The file of a program, built unless this very content was built before. */
export async function builtProgram(
  program: GoProgram,
  env: Env,
  print: (line: string) => void,
): Promise<string> {
  const { name, title } = program
  const go = await findGo(program, env, moduleOf(program))
  const cache = join(cacheFolder(env), name)
  const folder = join(cache, keyOf(program, go))
  const file = join(folder, name)
  if (!existsSync(file)) {
    mkdirSync(cache, { recursive: true })
    const waiting = (released: Promise<void>) =>
      withProgress(`another process builds ${title}, waiting for it`, released, print)
    await withLock(`${folder}.lock`, waiting, async () => {
      if (existsSync(file)) return
      removeUnused(cache)
      await build({ program, go, folder, print }).catch((error: unknown) => {
        if (!existsSync(file)) throw error // else another was faster
      })
    })
  }
  const now = new Date()
  utimesSync(folder, now, now)
  return file
}

function cacheFolder(env: Env): string {
  const home = env.HOME || homedir()
  const caches = process.platform === 'darwin' ? 'Library/Caches' : '.cache'
  const root = env.XDG_CACHE_HOME ? resolve(env.XDG_CACHE_HOME) : join(home, caches)
  return join(root, 'virt-platform-autopilot')
}

// All that decides what is built, byte by byte.
function keyOf(program: GoProgram, { version, platform }: Go): string {
  const hash = createHash('sha256')
  const module = moduleOf(program)
  const folder = join(MODULE, program.name)
  const sources = readdirSync(folder).filter((file) => /(?<!_test)\.go$/.test(file))
  const pinned = ['go.mod', 'go.sum'].map((file) => join(module, file))
  for (const file of [...pinned, ...sources.sort().map((source) => join(folder, source))])
    hash.update(readFileSync(file))
  return hash
    .update(JSON.stringify([buildFlags(program), version, platform]))
    .digest('hex')
    .slice(0, 32)
}

// Older content, and what a build that was killed left; not what another clone uses these days.
function removeUnused(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    if (Date.now() - lstatSync(path).mtimeMs < UNUSED_AFTER_MS) continue
    rmSync(path, { recursive: true, force: true })
  }
}
