import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'

const MAIN = join(import.meta.dirname, '../../../../src/cli/main.ts')

// A program sees a terminal, as nobody can tell it of one.
const ON_TERMINAL = 'import pty, sys; pty.spawn(sys.argv[1:])'

// Nothing of the tests' own surroundings: of them Node asks CI and a dozen more for colours.
const ALONE = ['-c', 'exec env -i PATH="$PATH" TERM=xterm "$@"', 'sh']

t.test('verdicts have colours on a terminal alone, and not under NO_COLOR', async (t) => {
  const file = join(t.testdir(), 'hco.yaml')
  writeFileSync(
    file,
    'apiVersion: hco.kubevirt.io/v1\nkind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged}\n',
  )
  const check = [process.execPath, MAIN, 'check', file]
  const terminal = ['python3', '-c', ON_TERMINAL, ...check]
  // Its first line: on a terminal what it says to standard error comes after it.
  const said = (command: readonly string[], ...env: readonly string[]) => {
    const [line] = execFileSync('sh', [...ALONE, ...env, ...command], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).split(/\r?\n/)
    return line ?? ''
  }
  const plain = said(check)
  t.match(plain, /: allowed /)
  t.equal(stripVTControlCharacters(plain), plain)
  const colored = said(terminal)
  t.match(colored, '\u001b[32mallowed\u001b[39m')
  t.equal(stripVTControlCharacters(colored), plain)
  t.equal(said(terminal, 'NO_COLOR=1'), plain)
})
