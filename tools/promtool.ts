import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Env } from '../src/shared/ops/env.ts'
import { cacheFolder } from './control-plane/build/cache.ts'
import { findGo, type Go } from './control-plane/build/go.ts'
import { withLock } from './control-plane/build/lock.ts'
import { withProgress } from './control-plane/build/progress.ts'
import { lastLines, spawnLeashed } from './control-plane/processes.ts'

const MODULE = join(import.meta.dirname, 'promtool')
const SOURCES = ['go.mod', 'go.sum', 'main.go', 'alert.go']
const FLAGS = ['-modcacherw', '-buildvcs=false', '-trimpath', '-ldflags', '-s -w']

/**
 * Where a promtool is that checks and tests rules: Prometheus's at PROMTOOL, or ours, built from tools/promtool
 * unless this very content was built before.
 *
 * @throws with the way out, where it is neither given nor can be built
 */
export async function findPromtool(env: Env, print: (line: string) => void): Promise<string> {
  if (env.PROMTOOL) return resolve(env.PROMTOOL)
  const go = await findGo(MODULE, env, { what: 'promtool', way: 'set PROMTOOL to the path of one' })
  const file = join(dirname(cacheFolder(env)), 'promtool', keyOf(go))
  if (existsSync(file)) return file
  mkdirSync(dirname(file), { recursive: true })
  const waiting = (released: Promise<void>) =>
    withProgress('another process builds promtool, waiting for it', released, print)
  await withLock(`${file}.lock`, waiting, async () => {
    if (!existsSync(file)) await build(go, file, print)
  })
  return file
}

async function build(go: Go, file: string, print: (line: string) => void): Promise<void> {
  const logFile = `${file}.log`
  const beside = `${file}.building`
  const compiler = spawnLeashed({
    name: 'go build',
    file: 'go',
    args: ['build', ...FLAGS, '-o', beside, '.'],
    cwd: MODULE,
    env: { ...go.env, GOTMPDIR: dirname(file) },
    logFile,
  })
  const task = `building promtool with ${go.version}, once, about a minute`
  const how = await withProgress(task, compiler.ended, print)
  if (how !== 'exit code 0')
    throw new Error(
      `building promtool failed (${how}); all of it is in ${logFile}:\n${lastLines(compiler.output())}`,
    )
  renameSync(beside, file)
  rmSync(logFile)
}

// All that decides what is built.
function keyOf({ version, platform }: Go): string {
  const hash = createHash('sha256')
  for (const name of SOURCES) hash.update(readFileSync(join(MODULE, name)))
  return hash
    .update(JSON.stringify([FLAGS, version, platform]))
    .digest('hex')
    .slice(0, 32)
}
