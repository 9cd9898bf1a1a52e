import { join } from 'node:path'
import t from 'tap'
import { type FileResult, runFile } from '../../../tools/test/run-file.ts'
import { runSuite } from '../../../tools/test/run-suite.ts'
import { noCounts, summary } from '../../../tools/test/tap-results.ts'

t.test('a test file ends well only if it says so and its process does', async (t) => {
  const folder = t.testdir({
    'good.ts':
      "import t from 'tap'\nt.ok(true)\nt.test('more', async (t) => { t.ok(1); t.ok(2) })\n",
    'bad.ts':
      "import t from 'tap'\nt.test('sums', async (t) => { t.equal(1 + 1, 3, 'adds up') })\n",
    'thrown.ts': "import t from 'tap'\nt.ok(true)\nthrow new Error('broken')\n",
    'silent.ts': '',
    'killed.ts': "import t from 'tap'\nt.ok(true)\nprocess.kill(process.pid, 'SIGKILL')\n",
    'code.ts': "console.log('TAP version 14\\n1..1\\nok 1 - fine')\nprocess.exitCode = 3\n",
    'short.ts': "console.log('TAP version 14\\n1..2\\nok 1 - fine')\n",
  })
  const run = (name: string) => runFile(join(folder, `${name}.ts`), {})
  t.match(await run('good'), { isOk: true, counts: { passed: 3, failed: 0 }, failures: [] })
  const bad = await run('bad')
  t.match(bad, { isOk: false, counts: { passed: 0, failed: 1 } })
  t.match(bad.failures.join(''), /^FAIL .*bad\.ts > sums > adds up\n {2}at .*bad\.ts:2\n/)
  for (const name of ['thrown', 'silent', 'killed', 'code', 'short']) {
    const result = await run(name)
    t.match(result, { isOk: false, counts: { failed: 1 } }, name)
    t.match(result.failures.join(''), /^FAIL /, name)
  }
})

const result = (file: string, isOk: boolean): FileResult => ({
  file,
  isOk,
  counts: { ...noCounts(), [isOk ? 'passed' : 'failed']: 1 },
  failures: isOk ? [] : [`FAIL ${file}\n`],
  seconds: 1,
})

t.test('a file that fails runs once more, alone, where the suite says so', async (t) => {
  const ran: string[] = []
  let running = 0
  const run = async (file: string) => {
    ran.push(file)
    const isAlone = ++running === 1
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return result(file, file === 'good' || (file === 'shy' && isAlone))
  }
  const files = ['good', 'bad', 'shy']
  const said: string[] = []
  const runner = { run, print: (text: string) => said.push(text) }
  const { results, flaky } = await runSuite({ files, jobs: 3, isRetried: true }, runner)
  t.strictSame(flaky, ['shy'])
  t.strictSame(results.map(({ file, isOk }) => [file, isOk]).sort(), [
    ['bad', false],
    ['good', true],
    ['shy', true],
  ])
  t.equal(ran.length, 5)
  t.match(said.join(''), /once more, alone: shy\n/)

  ran.length = 0
  t.match(await runSuite({ files, jobs: 3, isRetried: false }, runner), { flaky: [] })
  t.equal(ran.length, 3)
})

t.test('the last line counts what passed and what failed', async (t) => {
  t.equal(summary({ ...noCounts(), passed: 3 }), '3 passed, 0 failed\n')
  t.equal(
    summary({ passed: 3, failed: 1, skipped: 1, todo: 0 }),
    '1 skipped, 0 todo\n3 passed, 1 failed\n',
  )
})
