import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'node_modules/.cache/client-node')

/**
 * The flag of Node with which a test file loads one bundled file in place of the 868 modules of the Kubernetes client, a third of what
 * most files need until their first test. The bundle is made once for each version.
 */
export function bundledClient(): string {
  const { version } = JSON.parse(
    readFileSync(join(ROOT, 'node_modules/@kubernetes/client-node/package.json'), 'utf8'),
  )
  const stamp = join(FOLDER, 'version')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== version) {
    const entry = join(import.meta.dirname, 'client-node.ts')
    execFileSync(process.execPath, ['tools/build.mjs', entry, FOLDER], { cwd: ROOT })
    writeFileSync(stamp, version)
  }
  return `--import=${pathToFileURL(join(import.meta.dirname, 'redirect-client.mjs'))}`
}
