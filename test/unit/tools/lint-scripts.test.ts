import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lintScripts } from '../../../tools/lint-scripts/lint.ts'

const ROOT = join(import.meta.dirname, '../../..')
const MAIN = join(ROOT, 'tools/lint-scripts/main.ts')

interface Verdict {
  readonly status: number
  readonly findings: readonly string[]
}

/** Runs the command, as `npm run check` does. */
const run = (folder: string, ...args: readonly string[]): Promise<Verdict> =>
  new Promise((resolve) =>
    execFile(process.execPath, [MAIN, ...args], { cwd: folder }, (error, _stdout, stderr) =>
      resolve({
        status: error ? Number(error.code) : 0,
        findings: stderr.split('\n').filter(Boolean),
      }),
    ),
  )

/** What the command says and how it ends, without a process of its own for each case. */
const lint = async (folder: string, ...args: readonly string[]): Promise<Verdict> => {
  const { status, lines } = await lintScripts(args, folder)
  return { status, findings: lines }
}

const PYTHON = '"""Says hello."""\n\nprint("hello")\n'
const SHELL = '#!/bin/sh\necho hello\n'
const UNIT = '[Service]\nExecStart=/usr/bin/python3 -I /usr/local/bin/x.py -c 1 --check\n'

t.test('passes scripts that are well, and units that start them', async (t) => {
  const folder = t.testdir({
    'hello.py': PYTHON,
    hello: PYTHON.replace(/^/, '#!/usr/bin/python3\n'),
    'hello.sh': SHELL,
    'hello.service': UNIT,
    'other.service':
      '[Service]\nExecStart=/bin/sh /usr/local/bin/x.sh\nExecStop=/usr/bin/flush -c\n',
    'notes.md': 'Start `sh -c` by hand.\n',
  })
  t.strictSame(await lint(folder, '.'), { status: 0, findings: [] })
})

// One file each, so that each is seen to fail alone.
const faults: readonly (readonly [
  what: string,
  name: string,
  text: string,
  findings: readonly RegExp[],
])[] = [
  [
    'Python that does not compile',
    'a.py',
    'x = )\n',
    [/^a\.py:1:5: invalid-syntax /, /^a\.py:1:6: invalid-syntax /],
  ],
  [
    'Python that nodes do not understand',
    'a.py',
    '"""Text."""\n\nmatch 1:\n    case _:\n        pass\n',
    [/^a\.py:3:1: invalid-syntax .*Python 3\.9/],
  ],
  [
    'an unused import and an unsafe call in Python',
    'a.py',
    '"""Text."""\n\nimport os\nimport subprocess\n\nsubprocess.run("ls *", shell=True, check=True)\n',
    [/^a\.py:3:8: F401 /, /^a\.py:6:1: S602 /, /^a\.py:6:16: S607 /],
  ],
  [
    'Python that is laid out otherwise',
    'a.py',
    '"""Text."""\n\nprint( 1 )\n',
    [/^a\.py:3:1: format .*--write$/],
  ],
  [
    'Python told by its first line',
    'tune',
    '#!/usr/bin/env -S python3 -I\nimport os\n',
    [/^tune:1:1: D100 /, /^tune:2:8: F401 /],
  ],
  ['an unquoted variable in shell', 'a.sh', '#!/bin/sh\nrm -rf $1/tmp\n', [/^a\.sh:2:8: SC2086 /]],
  [
    'shell told by its first line',
    'provision',
    '#!/usr/bin/env bash\ncd /tmp\n',
    [/^provision:2:1: SC2164 /],
  ],
  ['bash where only sh is promised', 'a', '#! /bin/sh\n[[ -e /x ]]\n', [/^a:2:1: SC3010 /]],
  ['a shell script without a first line', 'a.sh', 'echo hello\n', [/^a\.sh:1:1: SC2148 /]],
  [
    'a script for which there is no linter',
    'a',
    '#!/usr/bin/perl\nprint 1;\n',
    [/^a:1:1: interpreter no linter for perl: write it in Python or shell$/],
  ],
  [
    'a command for a shell in a unit',
    'a.service',
    '[Service]\nExecStart=/bin/sh -c "swapon /dev/sda"\n',
    [/^a\.service:2:1: inline-command make this script a file/],
  ],
  [
    'such a command with more options, on two lines',
    'a.conf',
    '[Service]\nExecStartPre=-/usr/bin/env bash -eu \\\n  -c "true"\n',
    [/^a\.conf:2:1: inline-command /],
  ],
  [
    'a command for Python in a template',
    'a.yaml.ejs',
    'units:\n  - contents: |\n      [Service]\n      ExecStart=/usr/bin/python3.9 -Ic "import os"\n',
    [/^a\.yaml\.ejs:4:1: inline-command /],
  ],
  [
    'a script in a template',
    'a.yaml.ejs',
    'files:\n  - contents: |\n      #!/bin/bash\n      true\n',
    [/^a\.yaml\.ejs:3:1: inline-script make this script a file/],
  ],
]
for (const [what, name, text, findings] of faults)
  t.test(`refuses ${what}`, async (t) => {
    const folder = t.testdir({ 'good.py': PYTHON, deep: { [name]: text } })
    const verdict = await lint(join(folder, 'deep'), '../good.py', name)
    t.match(verdict, { status: 1, findings })
    t.equal(verdict.findings.length, findings.length, verdict.findings.join('\n'))
  })

t.test('finds scripts in folders of folders, and names them in order', async (t) => {
  const bad = '#!/bin/sh\necho $1\n'
  const folder = t.testdir({ b: { c: { 'z.sh': bad } }, a: { 'y.sh': bad }, 'x.sh': bad })
  const verdict = await lint(folder, 'b', 'a', 'x.sh')
  t.strictSame(await run(folder, 'b', 'a', 'x.sh'), verdict)
  t.match(verdict.findings, [/^b\/c\/z\.sh:2/, /^a\/y\.sh:2/, /^x\.sh:2/])
})

t.test('looks at a large script after another', async (t) => {
  const large = `#!/bin/sh\n${'if [ -e "$1" ]; then\n  echo "$1" | sed s/a/b/\nfi\n'.repeat(30)}`
  const folder = t.testdir({ 'a.sh': large, 'b.sh': large, 'c.sh': '#!/bin/sh\necho $1\n' })
  t.match(await lint(folder, '.'), { status: 1, findings: [/^c\.sh:2:6: SC2086 /] })
})

t.test('lays out Python where it is told to, and leaves the rest to people', async (t) => {
  const folder = t.testdir({ 'a.py': PYTHON.replace('"hello"', "'hello'"), 'b.py': 'x = (\n' })
  t.match(await lint(folder, '--write', 'a.py'), { status: 0, findings: [] })
  t.equal(readFileSync(join(folder, 'a.py'), 'utf8'), PYTHON)
  t.match(await lint(folder, '--write', 'b.py'), { status: 1 })
  t.equal(readFileSync(join(folder, 'b.py'), 'utf8'), 'x = (\n')
})

t.test('does not pass for having found nothing to look at', async (t) => {
  const folder = t.testdir({ 'notes.md': 'hello\n' })
  t.strictSame(await lint(folder, '.'), {
    status: 1,
    findings: ['lint-scripts: no script in .'],
  })
  t.match(await lint(folder, 'nowhere'), { status: 2, findings: ['nowhere does not exist: use'] })
  t.match(await run(folder), { status: 2, findings: ['lint-scripts: no path given: use'] })
  t.match(await lint(folder, '--fix', '.'), { status: 2, findings: ['unknown option --fix'] })
})

t.test('is part of the check, for everything that goes to nodes', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  t.match(scripts.check, / npm run lint:scripts /)
  const [, ...words] = scripts['lint:scripts'].split(' ')
  t.strictSame(words.slice(0, 2), ['tools/lint-scripts/main.ts', 'assets'])
  t.strictSame(await run(ROOT, ...words.slice(1)), { status: 0, findings: [] })
})
