import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Env } from '../../../src/shared/ops/env.ts'
import { cacheFolder } from '../../control-plane/build/cache.ts'
import { findGo } from '../../control-plane/build/go.ts'
import { withProgress } from '../../control-plane/build/progress.ts'

/** The webhook in Go, built. */
export interface GoPeer {
  readonly program: string
  /** Of what it is made, such as `Go 1.26.8`. */
  readonly versions: readonly string[]
}

const MODULE = join(import.meta.dirname, 'go')
const PURPOSE = { what: 'the peer in Go', way: 'do without this peer' }
const FLAGS = ['-modcacherw', '-buildvcs=false', '-trimpath', '-ldflags', '-s -w']

/** The peer in Go, built from its sources beside this file unless these very sources were built before. */
export async function builtGoPeer(env: Env, print: (line: string) => void): Promise<GoPeer> {
  const go = await findGo(MODULE, env, PURPOSE)
  const [definition = '', ...others] = ['go.mod', 'go.sum', 'main.go'].map((name) =>
    readFileSync(join(MODULE, name), 'utf8'),
  )
  const hash = createHash('sha256').update(JSON.stringify([definition, others, FLAGS, go.version]))
  const cache = join(dirname(cacheFolder(env)), 'bench-peers')
  const program = join(cache, hash.digest('hex').slice(0, 32))
  const versions = [`Go ${go.version.replace(/^go/, '')}`, ...versionsIn(definition)]
  if (existsSync(program)) return { program, versions }
  mkdirSync(cache, { recursive: true })
  const beside = mkdtempSync(join(cache, 'building-'))
  try {
    const args = ['build', ...FLAGS, '-o', join(beside, 'peer'), '.']
    const options = { cwd: MODULE, env: { ...go.env, GOTMPDIR: beside } }
    const task = 'building the webhook in Go, once, about a minute'
    await withProgress(task, promisify(execFile)('go', args, options), print)
    // All of it is there, or nothing: whoever else builds it builds the same.
    renameSync(join(beside, 'peer'), program)
    return { program, versions }
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

/** The version of controller-runtime that a module requires, in words. */
export function versionsIn(definition: string): readonly string[] {
  const [, version] = /^\s*sigs\.k8s\.io\/controller-runtime v(\S+)/m.exec(definition) ?? []
  return version === undefined ? [] : [`controller-runtime ${version}`]
}
