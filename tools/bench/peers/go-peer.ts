import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
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

/** Builds the peer in Go into a folder; what is unchanged comes out of go's own cache. */
export async function buildGoPeer(folder: string): Promise<GoPeer> {
  const go = await findGo(MODULE, process.env, PURPOSE)
  const program = join(folder, 'go-peer')
  const options = { cwd: MODULE, env: { ...go.env, GOTMPDIR: folder } }
  const built = promisify(execFile)('go', ['build', ...FLAGS, '-o', program, '.'], options)
  await withProgress('building the webhook in Go', built, (line) => console.error(line))
  const definition = readFileSync(join(MODULE, 'go.mod'), 'utf8')
  return { program, versions: [`Go ${go.version.replace(/^go/, '')}`, ...versionsIn(definition)] }
}

/** The version of controller-runtime that a module requires, in words. */
export function versionsIn(definition: string): readonly string[] {
  const [, version] = /^\s*sigs\.k8s\.io\/controller-runtime v(\S+)/m.exec(definition) ?? []
  return version === undefined ? [] : [`controller-runtime ${version}`]
}
