import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Env } from '../../src/shared/ops/env.ts'
import { lastLines } from '../control-plane/processes.ts'
import { type GoProgram, MODULE } from './module.ts'

/** The Go that builds a module. */
export interface Go {
  readonly version: string
  readonly platform: string
  readonly buildCache: string
  readonly moduleCache: string
  readonly env: Env
}

const ASKED = ['GOVERSION', 'GOOS', 'GOARCH', 'GOCACHE', 'GOMODCACHE']

/** What is built, and what to do where it cannot be; both parts of a sentence. */
export type Purpose = Pick<GoProgram, 'title' | 'way'>

/** The Go that builds a module here; throws, with the way out, if there is none that can. */
export async function findGo(purpose: Purpose, given: Env, module = MODULE): Promise<Go> {
  const needed = /^go (\d+\.\d+)/m.exec(readFileSync(join(module, 'go.mod'), 'utf8'))?.[1] ?? ''
  const { GOOS: _os, GOARCH: _architecture, ...rest } = given // built to run here
  const env = { ...rest, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' }
  const output = await goEnv(module, env).catch((error: unknown) => {
    throw unfit(purpose, needed, complaint(error), error)
  })
  const [version = '', os, arch, buildCache = '', moduleCache = ''] = output.split('\n')
  if (!isAtLeast(version, needed)) throw unfit(purpose, needed, `this one is "${version}"`)
  return { version, platform: `${os}/${arch}`, buildCache, moduleCache, env }
}

async function goEnv(module: string, env: Env): Promise<string> {
  const { stdout } = await promisify(execFile)('go', ['env', ...ASKED], { cwd: module, env })
  return stdout
}

function complaint(error: unknown): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string }
  if (code === 'ENOENT') return 'no `go` is on the PATH'
  return `this one says "${lastLines(stderr || message, 1)}"`
}

function unfit({ title, way }: Purpose, needed: string, why: string, cause?: unknown): Error {
  return new Error(
    `building ${title} needs Go ${needed} or newer, and ${why}: install it from go.dev, or ${way}`,
    { cause },
  )
}

// "go1.26.8", "go1.27rc1", "devel go1.27-a1b2c3"
function isAtLeast(version: string, needed: string): boolean {
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(version) ?? []
  const [neededMajor, neededMinor] = needed.split('.')
  if (major !== neededMajor) return Number(major) > Number(neededMajor)
  return Number(minor) >= Number(neededMinor)
}
