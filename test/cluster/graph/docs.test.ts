import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { loadManifests } from '../../../tools/control-plane/manifests.ts'
import { findTool } from '../../../tools/go-programs/tools.ts'
import { ENTRY } from '../harness/autopilot-fixture.ts'
import { environment, type Said } from '../harness/fixture.ts'
import { createPerson } from '../harness/person.ts'
import { graphCluster } from './graph-cluster.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PAGES = ['docs/graph/README.md', 'docs/graph/modules.md']
const PROGRAM = 'npm run -s autopilot --'
// Ones that start something else, or are about a clone.
const SKIPPED = /^(npm start|export CUE_EVALUATOR=)/

interface Block {
  readonly page: string
  readonly language: string
  readonly text: string
}

const blocksOf = (page: string): readonly Block[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/```(\w+)\n(.*?)```/gs)].map(
    ([, language = '', text = '']) => ({ page, language, text }),
  )

/** The name that the first line of a manifest, or of a file of CUE, gives it. */
const fileNameIn = ({ text }: Block) => /^(?:#|\/\/) (\S+\.(?:yaml|cue))\n/.exec(text)?.[1]

/** The commands of a console with what each prints. */
const sessionsIn = ({ text }: Block) =>
  text
    .split(/^\$ /m)
    .slice(1)
    .map((session) => {
      const [command = '', ...output] = session.split('\n')
      return { command, output: output.join('\n') }
    })

/** What a page says is printed, with … for anything. */
const asPattern = (output: string) =>
  new RegExp(`^${output.split('…').map(RegExp.escape).join('[\\s\\S]*?')}\n?$`)

type Run = (command: string) => Promise<Said>

/** Runs what is to be pasted. */
async function paste(t: Test, { page, text }: Block, run: Run): Promise<void> {
  for (const command of text.trim().split('\n')) {
    if (SKIPPED.test(command)) continue
    const { code, stderr } = await run(command)
    t.equal(code, 0, `${page}: ${command}: ${stderr}`)
  }
}

/** Runs what is shown with what it prints, on either output. */
async function compare(t: Test, block: Block, run: Run): Promise<void> {
  for (const { command, output } of sessionsIn(block)) {
    const { stdout, stderr } = await run(command)
    // What a command answers, or else why it does not.
    t.match(stdout || stderr, asPattern(output), `${block.page}: ${command}: ${stderr}`)
  }
}

const RUNNERS: Readonly<Record<string, typeof paste>> = { sh: paste, console: compare }

t.test('what the pages on graphs say to paste does what they say', async (t) => {
  const [kwok, evaluator] = [
    await findTool('kwok', environment(), (line) => t.comment(line)),
    await findTool('cue-evaluator', environment(), (line) => t.comment(line)),
  ]
  const cluster = await graphCluster(t, { workloads: { kwok, podAddress: '127.0.0.1' } })
  const nodes = loadManifests(join(ROOT, 'test/samples')).filter(({ kind }) => kind === 'Node')
  await cluster.apply(...nodes)
  const { shell } = createPerson(cluster, 'alice')
  const program = `CUE_EVALUATOR='${evaluator}' '${process.execPath}' '${ENTRY}'`
  const run = (command: string) => shell(command.replaceAll(PROGRAM, program))
  for (const block of PAGES.flatMap(blocksOf)) {
    const name = fileNameIn(block)
    const runBlock = RUNNERS[block.language]
    if (name !== undefined) {
      const file = join(cluster.dataDir, 'home', name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, block.text)
    } else if (runBlock) await runBlock(t, block, run)
    else t.fail(`${block.page} has a block of ${block.language} that nobody runs: ${block.text}`)
  }
})
