import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { checks, NO_SERVER } from './hostile.ts'

for (const [says, check] of checks) {
  t.test(says, async (t) => {
    await t.resolves(Promise.resolve(check()))
  })
}

const program = fileURLToPath(import.meta.resolve('./hostile.ts'))

const flags: readonly (readonly [flag: string, ...args: string[]])[] = [
  ['--disable-proto=delete'],
  ['--disable-proto=throw'],
  // Fastify's JSON parser assigns to Error, which is frozen then: all but that runs.
  ['--frozen-intrinsics', NO_SERVER],
]

for (const [flag, ...args] of flags) {
  t.test(`the same holds with ${flag}`, async (t) => {
    const options = { encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(process.execPath, [flag, program, ...args], options)
    t.equal(status, 0, stderr)
  })
}
