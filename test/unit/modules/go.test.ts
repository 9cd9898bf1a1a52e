import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { env } from 'node:process'
import { promisify } from 'node:util'
import t from 'tap'
import { findGo } from '../../../tools/go-programs/go.ts'

const MODULE = join(import.meta.dirname, '../../../tools/go/cue-evaluator')

t.test("the evaluator's own tests pass: it loads what cue/load would", async (t) => {
  const purpose = { title: 'the tests of cue-evaluator', way: 'leave this one out' }
  const go = await findGo(purpose, env, MODULE)
  const run = (file: string, args: readonly string[]) =>
    promisify(execFile)(file, args, { cwd: MODULE, env: go.env }).then(
      ({ stdout }) => ({ isGood: true, stdout }),
      ({ stdout = '', stderr = '' }) => ({ isGood: false, stdout: `${stdout}${stderr}` }),
    )
  // Built like the program, most of it is compiled already; what vet wants of it is not.
  t.match(await run('go', ['test', '-vet=off', '-trimpath', '-buildvcs=false', '.']), {
    isGood: true,
  })
  t.same(await run('gofmt', ['-l', '.']), { isGood: true, stdout: '' })
})
