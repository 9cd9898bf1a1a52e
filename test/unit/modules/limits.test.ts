import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import t from 'tap'
import type { Outcome } from '../../../src/shared/modules/evaluation.ts'
import { evaluatorOf, moduleOf, nodeWith, PROGRAM } from './evaluations.ts'

const DEADLINE_MS = 500
const chain = (levels: number, level: (at: number) => string) =>
  Array.from({ length: levels }, (_, at) => level(at)).join('\n')
const names = [...'abcdefghij']

/** Bombs, and how each may end: by what CUE itself allows, by memory or by time. */
const BOMBS: Readonly<
  Record<string, readonly [ends: readonly string[], fields: string, more?: string]>
> = {
  'a list that grows by its square': [
    ['TimedOut', 'memory'],
    'x: a4',
    `a0: [${names.map(() => 1)}]\n${chain(4, (at) => `a${at + 1}: [for x in a${at} for y in a${at} {x + y}]`)}`,
  ],
  'a billion laughs': [
    ['TimedOut', 'memory'],
    'x: l8',
    `l0: "lol"\n${chain(8, (at) => `l${at + 1}: {${names.map((name) => `${name}: l${at}`)}}`)}`,
  ],
  'a list of a billion': [
    ['TimedOut', 'memory'],
    'x: len(list.Range(0, 1000000000, 1))',
    'import "list"',
  ],
  'a number of forty billion bits': [
    ['memory'],
    'x: bits.Len(bits.Lsh(1, 40000000000))',
    'import "math/bits"',
  ],
  'a template in three loops': [
    ['TimedOut', 'memory'],
    `x: template.Execute("${'{{range $.d}}'.repeat(3)}x${'{{end}}'.repeat(3)}", {d: list.Range(0, 3000, 1)})`,
    'import "text/template"\nimport "list"',
  ],
  'fields within fields': [['TimedOut', 'memory'], `x: ${'a: '.repeat(300_000)}1`],
  'a sum of very many': [['TimedOut', 'memory'], `x: ${'1+'.repeat(300_000)}1`],
  'an attribute of brackets': [['TimedOut', 'memory'], `x: 1 @a(${'('.repeat(900_000)}`],
  'a definition within itself': [
    ['structural cycle'],
    'x: (#Down & {n: 100000}).out',
    '#Down: {n: int, out: [if n == 0 {0}, (#Down & {"n": n - 1}).out + 1][0]}',
  ],
  'a string of a billion': [
    ['exceeds limit'],
    'x: strings.Repeat("x", 1000000000)',
    'import "strings"',
  ],
  'a power': [['out of range'], 'x: math.Pow(3.3, 999999999.7)', 'import "math"'],
  'brackets within brackets': [['m.cue nests deeper than 200'], `x: ${'['.repeat(100_000)}`],
  'signs before signs': [['m.cue nests deeper than 200'], `x: ${'-'.repeat(100_000)}1`],
  'strings within strings': [['m.cue nests deeper than 200'], `x: ${'"\\('.repeat(1000)}`],
}

const endOf = (outcome: Outcome) => {
  if (outcome.kind === 'TooMuch') return outcome.what
  return outcome.kind === 'Refused' ? (outcome.errors[0]?.message ?? '') : outcome.kind
}

t.test('a module ends by its limits, whatever it does', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  for (const [name, [ends, fields, more]] of Object.entries(BOMBS)) {
    const start = performance.now()
    const end = endOf(
      await evaluate({ module: nodeWith(fields, more) }, { deadlineMs: DEADLINE_MS }),
    )
    t.ok(
      ends.some((one) => end.includes(one)),
      `${name}: ${end}`,
    )
    t.ok(performance.now() - start < 4 * DEADLINE_MS, name)
  }
  t.match(await evaluate({ module: nodeWith('') }), { kind: 'Rendered' })
})

t.test('an answer is read as far as it may be long', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const printing = (megabytes: number) =>
    nodeWith(
      `x: [for i in list.Range(0, ${megabytes}, 1) {strings.Repeat("x", 1000000)}]`,
      'import "list"\nimport "strings"',
    )
  t.match(await evaluate({ module: printing(8) }), { kind: 'Rendered' })
  t.same(await evaluate({ module: printing(9) }), { kind: 'TooMuch', what: 'output' })
})

t.test('an input may be as large as it may, and nest as deep', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const module = nodeWith('size: len("\\(input.text)")')
  const text = '=-('.repeat(80_000)
  t.match(await evaluate({ module, input: { text } }), {
    nodes: [{ object: { size: text.length } }],
  })
  t.same(await evaluate({ module, input: { text: 'x'.repeat(1 << 18) } }), {
    kind: 'Refused',
    errors: [{ code: 'input', path: 'spec.input', message: 'more than 262144 bytes' }],
  })
  let deep: Record<string, unknown> = {}
  for (let level = 0; level < 9_000; level++) deep = { a: deep }
  t.same(await evaluate({ module, input: deep }), {
    kind: 'Refused',
    errors: [{ code: 'input', path: 'spec.input', message: 'nests deeper than 200' }],
  })
})

// Where the processes of this one are listed, and their limits, is Linux.
const isLinux = process.platform === 'linux'

/** The evaluator's process, once it runs. */
async function childOf(program: string): Promise<string> {
  for (;;) {
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isMine(name, program))
    if (pid !== undefined) return pid
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const openFiles = (pid: string, from = 0) =>
  readdirSync(`/proc/${pid}/fd`)
    .filter((fd) => Number(fd) >= from)
    .map((fd) => linkAt(`/proc/${pid}/fd/${fd}`))

function linkAt(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // the one that the folder was read with
  }
}

function isMine(pid: string, program: string): boolean {
  try {
    const [, parent] = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(parent) === process.pid && readlinkSync(`/proc/${pid}/exe`) === program
  } catch {
    return false // gone meanwhile
  }
}

t.test(
  'its process has no variable, no file, no room to write, and limits',
  { skip: !isLinux && 'Linux alone has /proc' },
  async (t) => {
    const { evaluate } = evaluatorOf(t, { program: PROGRAM })
    const [ends, fields, more] = BOMBS['a billion laughs'] ?? [[], '']
    const running = evaluate({ module: nodeWith(fields, more) }, { deadlineMs: DEADLINE_MS })
    const pid = await childOf(PROGRAM)
    const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8')
    t.equal(read('environ'), '')
    t.equal(readlinkSync(`/proc/${pid}/cwd`), '/')
    // It sets its limits before it reads what to do.
    while (!/^Max open files +8 +8 /m.test(read('limits')))
      await new Promise((resolve) => setImmediate(resolve))
    t.match(read('limits'), /^Max data size +268435456 +268435456 /m)
    t.match(read('limits'), /^Max cpu time +10 +10 /m)
    t.match(read('limits'), /^Max file size +0 +0 /m)
    t.match(read('limits'), /^Max core file size +0 +0 /m)
    // Beside the three that it is given, and what whoever started the test left open to all: what Go waits for events with.
    const given = openFiles('self')
    const others = openFiles(pid, 3).filter((file) => !given.includes(file))
    t.same(
      others.filter((file) => !file.startsWith('anon_inode:')),
      [],
    )
    t.ok(ends.includes(endOf(await running)))
    t.throws(() => process.kill(Number(pid), 0), { code: 'ESRCH' })
  },
)

t.test('a module may be as large as it may, and no larger', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const empty = 'package m\n#Input: {}\ngraph: nodes: []\n//'
  const module = moduleOf({ 'm.cue': `${empty}${'x'.repeat((1 << 20) - empty.length)}` })
  t.match(await evaluate({ module, policies: module }), { kind: 'Rendered' })
  const larger = { ...module, files: { 'm.cue': `${module.files['m.cue']}x` } }
  t.equal(
    endOf(await evaluate({ module: { ...larger, digest: 'other' } })),
    'more than 1048576 bytes',
  )
})
