import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '../../../src/shared/modules/evaluation.ts'
import { evaluatorOf, moduleOf, nodeWith, PROGRAM, shellProgram } from './evaluations.ts'

const module = nodeWith('')
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))

t.test('at the deadline the whole process group goes', async (t) => {
  const { file, lines } = shellProgram(t, 'sleep 60 & echo $$ $! >>$LOG; wait')
  const { evaluate } = evaluatorOf(t, { program: file })
  const outcome = await evaluate({ module }, { deadlineMs: 800 })
  t.same(outcome, { kind: 'TimedOut', deadlineMs: 800 })
  const pids = lines().flatMap((line) => line.split(' ').map(Number))
  t.equal(pids.length, 2)
  for (const pid of pids) t.notOk(await isRunning(pid), String(pid))
})

// Whose parent died first is a zombie until somebody asks for it.
async function isRunning(pid: number): Promise<boolean> {
  const { readFile } = await import('node:fs/promises')
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return status !== '' && !/^State:\s*Z/m.test(status)
}

t.test('a few run at a time, and of one key one', async (t) => {
  const { file, lines } = shellProgram(t, 'echo + >>$LOG; sleep 0.05; echo - >>$LOG')
  const most = () => {
    let running = 0
    return Math.max(...lines().map((line) => (running += line === '+' ? 1 : -1)))
  }
  const { evaluate } = evaluatorOf(t, { program: file })
  await Promise.all(numbered(6).map((input) => evaluate({ module, input })))
  t.equal(lines().length, 12)
  t.equal(most(), 2)
  writeFileSync(join(file, '../log'), '')
  await Promise.all(
    numbered(3).map((input) =>
      evaluate({ module, input: { ...input, again: true } }, { turnOf: 'a' }),
    ),
  )
  t.equal(lines().length, 6)
  t.equal(most(), 1)
})

t.test('who waits for too long is told so, which is not remembered', async (t) => {
  const { file } = shellProgram(t, 'sleep 0.3')
  const { evaluate } = evaluatorOf(t, { program: file, concurrency: 1 })
  const first = evaluate({ module, input: { n: 1 } })
  t.same(await evaluate({ module, input: { n: 2 } }, { waitMs: 10 }), { kind: 'Busy' })
  t.match(await first, { kind: 'Rendered' })
  t.match(await evaluate({ module, input: { n: 2 } }), { kind: 'Rendered' })
})

t.test('answers are remembered, by module, input, context and policies', async (t) => {
  const { file, lines } = shellProgram(t, 'echo run >>$LOG')
  const told: string[] = []
  const onOutcome = ({ kind }: Outcome, { isRemembered }: { isRemembered: boolean }) =>
    told.push(`${kind} ${isRemembered}`)
  const { evaluate } = evaluatorOf(t, { program: file, onOutcome })
  const other = moduleOf('package other')
  const context = { name: 'shop', namespace: 'web' }
  const all = [
    { module },
    { module, input: { a: 1 } },
    { module: other },
    { module, policies: other },
    { module: { ...module, path: 'a' } },
    { module, context: { ...context, name: 'a' } },
    { module, context: { ...context, namespace: 'a' } },
  ]
  for (const asked of all) await evaluate(asked)
  t.equal(lines().length, all.length)
  for (const asked of all) t.match(await evaluate(asked), { kind: 'Rendered' })
  t.equal(lines().length, all.length)
  t.same(told, [...all.map(() => 'Rendered false'), ...all.map(() => 'Rendered true')])
  await Promise.all([0, 1, 2].map(() => evaluate({ module, input: { b: 1 } }, { turnOf: 'web' })))
  t.equal(lines().length, all.length + 1)
})

t.test('of more bytes than are kept the oldest are forgotten', async (t) => {
  const { file, lines } = shellProgram(t, 'echo run >>$LOG')
  const { evaluate } = evaluatorOf(t, { program: file, memoryBytes: 700 })
  for (const n of [1, 2, 3, 3, 2, 1]) await evaluate({ module, input: { n } })
  t.equal(lines().length, 4)
})

t.test('a time-out is remembered for a while, and for nobody who waits longer', async (t) => {
  let time = 1
  let runs = 0
  const onOutcome = (_outcome: Outcome, { isRemembered }: { isRemembered: boolean }) => {
    if (!isRemembered) runs++
  }
  const program = shellProgram(t, 'sleep 60').file
  const now = () => time
  const { evaluate } = evaluatorOf(t, { program, exceededMs: 1_000, now, onOutcome })
  const within = (deadlineMs: number) => evaluate({ module }, { deadlineMs })
  t.same(await within(100), { kind: 'TimedOut', deadlineMs: 100 })
  t.same(await within(50), { kind: 'TimedOut', deadlineMs: 100 })
  t.equal(runs, 1)
  t.same(await within(200), { kind: 'TimedOut', deadlineMs: 200 })
  t.same(await within(100), { kind: 'TimedOut', deadlineMs: 200 })
  t.equal(runs, 2)
  time += 1_001
  t.same(await within(100), { kind: 'TimedOut', deadlineMs: 100 })
  t.equal(runs, 3)
})

t.test('without the program there is no evaluator, until it is there', async (t) => {
  const { file } = shellProgram(t, '')
  const { evaluate } = evaluatorOf(t, { program: file })
  chmodSync(file, 0o644)
  t.match(await evaluate({ module }), { kind: 'EvaluatorUnavailable', message: /EACCES/ })
  chmodSync(file, 0o755)
  t.match(await evaluate({ module }), { kind: 'Rendered' })
  rmSync(file)
  const { evaluate: later } = evaluatorOf(t, { program: file })
  t.match(await later({ module }), {
    kind: 'EvaluatorUnavailable',
    message: /^the CUE evaluator cannot be used: ENOENT/,
  })
})

t.test('a program that ends otherwise than it may says nothing of the module', async (t) => {
  const ends = {
    'echo broken >&2; exit 1': /ended with exit code 1: broken$/,
    'kill -TERM $$': /ended with SIGTERM$/,
    'echo "{"; exit': /JSON/,
    'echo "{}"; exit': /neither nodes nor errors$/,
  }
  for (const [body, message] of Object.entries(ends)) {
    const { evaluate } = evaluatorOf(t, { program: shellProgram(t, body).file })
    t.match(await evaluate({ module }), { kind: 'EvaluatorUnavailable', message }, body)
  }
  const { evaluate } = evaluatorOf(t, { program: shellProgram(t, 'kill -KILL $$').file })
  t.same(await evaluate({ module }), { kind: 'TooMuch', what: 'memory' }, 'the kernel')
})

t.test('closing ends what runs, and what waits', async (t) => {
  const { file, lines } = shellProgram(t, 'echo run >>$LOG; sleep 60')
  const { evaluator, evaluate } = evaluatorOf(t, { program: file, concurrency: 1 })
  const all = numbered(2).map((input) => evaluate({ module, input }))
  while (lines().length === 0) await new Promise((resolve) => setImmediate(resolve))
  evaluator.close()
  const closed = { kind: 'EvaluatorUnavailable', message: /it was closed$/ }
  for (const outcome of await Promise.all(all)) t.match(outcome, closed)
  t.match(await evaluate({ module }), closed)
})

t.test('no variable of ours reaches the program', async (t) => {
  const { file, lines } = shellProgram(t, '/usr/bin/env >>$LOG')
  await evaluatorOf(t, { program: file }).evaluate({ module })
  const names = lines().map((line) => line.split('=')[0])
  t.same(
    names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', 'LOG'].includes(name ?? '')),
    [],
  )
})

t.test('the real program tells when it is asked for nothing', async (t) => {
  const { spawnSync } = await import('node:child_process')
  const { stdout } = spawnSync(PROGRAM, { input: '', env: {} })
  t.match(JSON.parse(String(stdout)), { errors: [{ code: 'internal' }] })
})
