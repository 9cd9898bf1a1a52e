import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { type AutopilotCluster, autopilotCluster } from '../harness/autopilot-fixture.ts'
import { HYPERCONVERGED } from '../harness/objects.ts'
import type { Program } from '../harness/program.ts'
import { until } from '../harness/until.ts'
import { corrected, refused, type Subject, swap, verdictProgram } from './writes/subjects.ts'

const ENFORCEMENT = 'platform.kubevirt.io/enforcement'

/** An asset that says nothing, one that says deny, and one that is always denied. */
const DOORS = { corrected, refused, swap } as const
type Doors = Readonly<Record<keyof typeof DOORS, 'corrected' | 'denied'>>

const doors = (plain: Doors['corrected'], strict: Doors['refused']): Doors => ({
  corrected: plain,
  refused: strict,
  swap: 'denied',
})

const CASES: readonly {
  readonly flag?: 'correct' | 'deny'
  /** What the HyperConverged says, in turn: `-` is nothing any more. */
  readonly stated: readonly (readonly [value: '' | '=correct' | '=deny' | '-', doors: Doors])[]
}[] = [
  {
    stated: [
      ['', doors('corrected', 'denied')],
      ['=correct', doors('corrected', 'corrected')],
      ['=deny', doors('denied', 'denied')],
      ['-', doors('corrected', 'denied')],
    ],
  },
  {
    flag: 'deny',
    stated: [
      ['', doors('denied', 'denied')],
      ['=correct', doors('corrected', 'corrected')],
      ['-', doors('denied', 'denied')],
    ],
  },
  {
    flag: 'correct',
    stated: [
      ['', doors('corrected', 'corrected')],
      ['=deny', doors('denied', 'denied')],
      ['-', doors('corrected', 'corrected')],
    ],
  },
]

const SAID = {
  '': 'the HyperConverged says nothing',
  '-': 'the HyperConverged says nothing any more',
  '=correct': 'the HyperConverged says correct',
  '=deny': 'the HyperConverged says deny',
}

const patchOf = ({ kind }: Subject, value: string) =>
  JSON.stringify(
    kind === 'ConfigMap' ? { data: { value } } : { spec: { config: { systemd: { units: [] } } } },
  )

async function door(cluster: AutopilotCluster, subject: Subject, value: string, dry = false) {
  const patch = ['patch', ...subject.target, '--type=merge', `--patch=${patchOf(subject, value)}`]
  const { code, stderr } = await cluster.person(`writer of ${value}`)(
    dry ? [...patch, '--dry-run=server'] : patch,
  )
  if (code === 0) return / kept at /.test(stderr) ? 'corrected' : 'stored'
  return / (is|are) kept by /.test(stderr) ? 'denied' : stderr
}

/** The same program with one flag more. */
function withFlag({ entry, catalog }: Program, flag: string): Program {
  const wrapper = join(dirname(entry), `${flag.replaceAll(/\W/g, '')}.js`)
  const lines = [
    `process.argv.push(${JSON.stringify(flag)})`,
    `await import('./${basename(entry)}')`,
    '',
  ]
  writeFileSync(wrapper, lines.join('\n'))
  return { entry: wrapper, catalog }
}

t.test('the HyperConverged overrules the flag, and the flag the asset', async (t) => {
  const program = verdictProgram(t)
  const cluster = await autopilotCluster(t, { program })
  const alice = cluster.person('alice')
  let edits = 0
  const seen = async (dry: boolean): Promise<Doors> => {
    const value = String(++edits)
    const found = Object.entries(DOORS).map(
      async ([name, subject]) => [name, await door(cluster, subject, value, dry)] as const,
    )
    return Object.fromEntries(await Promise.all(found)) as unknown as Doors
  }
  for (const { flag, stated } of CASES) {
    await t.test(`with ${flag ? `the flag ${flag}` : 'no flag'}`, async (t) => {
      if (flag)
        await cluster.restart('webhook', { program: withFlag(program, `--enforcement=${flag}`) })
      for (const [value, expected] of stated) {
        await t.test(`${SAID[value]}: ${JSON.stringify(expected)}`, async (t) => {
          if (value) {
            const annotate = ['annotate', ...HYPERCONVERGED, '--overwrite', ENFORCEMENT + value]
            t.match(await alice(annotate), { code: 0 })
          }
          // What the HyperConverged says reaches the webhook with the next state.
          await until(
            'it is known',
            async () => JSON.stringify(await seen(true)) === JSON.stringify(expected),
            60_000,
          )
          t.strictSame(await seen(false), expected)
          for (const { path } of [corrected, refused])
            t.strictSame((await cluster.read(path)).data, { value: 'kept' })
          t.not((await cluster.read(swap.path)).spec.config.systemd.units.length, 0)
        })
      }
      await t.test('what is only left out is put back all the same', async (t) => {
        const patch = ['patch', ...refused.target, '--type=merge', '--patch={"data":null}']
        t.match(await alice(patch), { code: 0, stderr: /kept at "kept"/ })
        t.strictSame((await cluster.read(refused.path)).data, { value: 'kept' })
      })
    })
  }
})
