import { spawnSync } from 'node:child_process'
import t from 'tap'

import { completion } from '../../../src/cli/completion.ts'
import { createProgram } from '../../../src/cli/program.ts'

const program = createProgram({}, 'ns')
const bash = completion(program, 'bash')

/** What bash completes a command line with, the last word being the one that is typed. */
function completed(...words: readonly string[]): readonly string[] {
  const line = ['virt-platform-autopilot', ...words].map((word) => `'${word}'`).join(' ')
  const script = `${bash}
COMP_WORDS=(${line}); COMP_CWORD=${words.length}
_virt_platform_autopilot
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, status, stderr } = spawnSync('bash', ['-c', script], {
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  return stdout.trimEnd().split('\n')
}

t.test('bash completes commands, options, their choices, and files', async (t) => {
  const files = t.testdir({ 'hco.yaml': '', 'other.yaml': '', 'a b.yaml': '' })
  t.same(completed('che'), ['check'])
  t.same(completed(''), [...program.commands.map((command) => command.name()), 'help'])
  t.same(completed('check', '--ou'), ['--output'])
  t.same(completed('check', '--output', 's'), ['sarif'])
  t.same(completed('status', '-o', ''), ['text', 'wide', 'json'])
  t.same(completed('check', '--output', '=', 's'), ['sarif'], 'as bash splits it')
  t.same(completed('check', '--output', '='), ['text', 'json', 'sarif', 'junit'])
  t.same(completed('check', '--output=s'), ['--output=sarif'], 'as zsh does not')
  t.same(completed('check', '--hco', `${files}/h`), [`${files}/hco.yaml`])
  t.same(completed('check', '--hco', '=', `${files}/h`), [`${files}/hco.yaml`])
  t.same(completed('check', `${files}/a`), [`${files}/a b.yaml`], 'one word')
  t.same(completed('check', `${files}/o`), [`${files}/other.yaml`])
  t.same(completed('completion', 'z'), ['zsh'])
  t.same(completed('status', '--helpme'), [''])
})

t.test('bash completes commands below commands, and their options', async (t) => {
  t.same(completed('graph', ''), ['render', 'check', 'diff', 'tree'])
  t.same(completed('graph', 're'), ['render'])
  t.same(completed('graph', 'render', '--mod'), ['--module'])
  t.same(completed('graph', 'render', '-o', ''), ['yaml', 'json'])
  t.same(completed('graph', 'check', '--output', 's'), [''], 'which the command check has')
  t.same(completed('reconciler', ''), ['baseline', 'graph'])
  t.same(completed('reconciler', 'graph', '--cue'), ['--cue-evaluator'])
  t.same(completed('reconciler', '--hco'), ['--hco-namespace'])
})

t.test('zsh and fish get every command and option', async (t) => {
  const zsh = completion(program, 'zsh')
  t.match(zsh, /^#compdef virt-platform-autopilot\n/)
  t.match(zsh, /then _bash_complete -o filenames -F _virt_platform_autopilot; fi\n$/, 'first TAB')
  t.notMatch(zsh, /\bcompinit/, 'which is the shell’s to run')
  const fish = completion(program, 'fish')
  for (const command of program.commands) {
    t.match(fish, `-f -a ${command.name()} -d '`)
    for (const { long } of command.options)
      t.match(fish, `__fish_seen_subcommand_from ${command.name()}' -`, `${long}`)
  }
  t.match(fish, /from check' -s o -l output -r -f -a 'text json sarif junit' -d '/)
  t.match(fish, /'not \S+ graph; and __fish_seen_subcommand_from check' -s o /)
  t.match(
    fish,
    /_from graph; and __fish_seen_subcommand_from check' -s o -l output -r -f -a 'text json' -d '/,
  )
  t.equal((fish.match(/(?<!\\)'/g)?.length ?? 0) % 2, 0, 'every quote is closed')
})
