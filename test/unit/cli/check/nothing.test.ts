import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const MAIN = join(import.meta.dirname, '../../../../src/cli/main.ts')

for (const [what, path] of [
  ['a pipe from a tool that failed', '-'],
  ['a folder without manifests', ''],
] as const) {
  t.test(`${what} is no answer: there was nothing to judge`, async (t) => {
    const args = [MAIN, 'check', path || t.testdir()]
    const { status, stderr } = spawnSync(process.execPath, args, { input: '', encoding: 'utf8' })
    t.match(stderr, /objects: 0, of them managed: 0/)
    t.equal(status, 2)
  })
}
