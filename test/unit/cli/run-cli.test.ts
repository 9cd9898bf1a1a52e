import { Command } from 'commander'
import t from 'tap'

import { runCli, UndecidedError, UsageError } from '../../../src/cli/run-cli.ts'
import { CatalogError } from '../../../src/shared/baseline/catalog/catalog-error.ts'

/** What the command line says and how it ends where its one command throws this. */
async function failing(error: Error, ...flags: readonly string[]) {
  const program = new Command('p').exitOverride()
  const fail = () => {
    throw error
  }
  program.command('fail').option('--log-level <level>').exitOverride().action(fail)
  let said = ''
  const write = (text: string) => {
    said += text
  }
  const code = await runCli(program, ['fail', ...flags], { write })
  return { code, lines: said.split('\n').slice(0, -1) }
}

const HOSTILE = 'cannot read a\n::error::forged \u001b[2J\u202e.yaml'
const SAFE = 'cannot read a\\u000a::error::forged \\u001b[2J\\u202e.yaml'

t.test('what failed is told in one line, whatever is quoted in it', async (t) => {
  const line = `virt-platform-autopilot: ${SAFE}`
  t.same(await failing(new Error(HOSTILE)), { code: 1, lines: [line] })
  t.same(await failing(new UsageError(HOSTILE)), { code: 2, lines: [line] })
  t.same(await failing(new UndecidedError(HOSTILE)), { code: 2, lines: [line] })
})

t.test('a catalog has a line for each mistake, also where another error tells of it', async (t) => {
  const mistakes = new CatalogError([HOSTILE, 'b'])
  const lines = [`virt-platform-autopilot: ${SAFE}`, 'b']
  t.same(await failing(mistakes), { code: 1, lines })
  const undecided = new UndecidedError(mistakes.message, { cause: mistakes })
  t.same(await failing(undecided), { code: 2, lines })
})

t.test('a stack has lines, and the messages in it have none', async (t) => {
  const error = new UndecidedError(HOSTILE, { cause: new Error(`why: ${HOSTILE}`) })
  const { lines } = await failing(error, '--log-level=debug')
  const [first, ...frames] = lines
  t.equal(first, `virt-platform-autopilot: UndecidedError: ${SAFE}`)
  t.ok(frames.length > 2)
  for (const line of frames.filter((frame) => !/^ +at /.test(frame)))
    t.equal(line, `caused by Error: why: ${SAFE}`)
})
