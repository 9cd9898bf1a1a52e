import { parseArgs } from 'node:util'
import { signalOnTermination } from '../src/shared/ops/shutdown.ts'
import { type Scope, testCluster } from '../test/cluster/harness/fixture.ts'
import { EVERY_SORT_CRD } from '../test/cluster/merge/every-sort.ts'
import {
  BUILT_IN,
  CUSTOM,
  EVERY_SORT,
  isMerged,
  MERGE_CRDS,
  type MergeKind,
} from '../test/cluster/merge/kinds.ts'
import { createOracle } from '../test/cluster/merge/oracle.ts'
import { compareKind, type Finding } from '../test/cluster/merge/property.ts'
import { readServed } from '../test/cluster/merge/served.ts'
import { install } from './control-plane/install.ts'
import { loadManifests } from './control-plane/manifests.ts'

const KINDS = [EVERY_SORT, ...BUILT_IN, ...CUSTOM]
const PROGRESS_EVERY = 100
const MAX_SEED = 2 ** 31 - 1

const HELP = `\
Compares our merge with the API server's own, for drawn objects of ${KINDS.length} kinds on a control plane of its own.

  npm run fuzz:merge                       1,000 pairs in all
  npm run fuzz:merge -- --cases 5000       so many in all, at least one of each kind
  npm run fuzz:merge -- --kind Deployment  of one kind alone
  npm run fuzz:merge -- --seed 7           the same pairs again

Ends with 1 and the smallest pair that differs, as JSON: put it into test/fixtures/merge, in a file named
after what it shows, and every test run compares it from then on.
`

const { cases, seed, kinds } = readCommandLine(process.argv.slice(2))
const signal = signalOnTermination()
const interrupted = new Promise<never>((_resolve, reject) => {
  signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true })
})
interrupted.catch(() => undefined)
const ends: (() => Promise<void>)[] = []
try {
  const scope: Scope = { comment: say, teardown: (end) => void ends.push(end) }
  const findings = await Promise.race([fuzz(scope), interrupted])
  for (const finding of findings) tell(finding)
  process.exitCode = findings.some(({ problem }) => problem !== undefined) ? 1 : 0
} catch (error) {
  console.error('fuzz:merge: could not compare:', signal.aborted ? 'interrupted' : error)
  process.exitCode = signal.aborted ? 130 : 2
}
for (const end of ends) await end()
// What was interrupted is still waiting for its answers.
process.exit()

async function fuzz(scope: Scope): Promise<readonly Finding[]> {
  const cluster = await testCluster(scope, { crds: isMerged, samples: false })
  await install(cluster, [...loadManifests(MERGE_CRDS), EVERY_SORT_CRD])
  const servedOf = await readServed(cluster, kinds)
  const oracle = await createOracle(cluster, servedOf)
  const perKind = Math.ceil(cases / kinds.length)
  say(`comparing ${perKind} pairs of each kind (${kinds.length}) with seed ${seed}`)
  const answers = { compared: 0, refused: 0 }
  const onAnswer = (answer: keyof typeof answers) => {
    answers[answer] += 1
    if ((answers.compared + answers.refused) % PROGRESS_EVERY === 0)
      say(`${answers.compared} compared, ${answers.refused} refused by the API server`)
  }
  const amount = { cases: perKind, seed, onAnswer }
  return await Promise.all(kinds.map((kind) => compareKind(oracle, kind, servedOf(kind), amount)))
}

function tell({ kind, compared, refused, problem, counterexample }: Finding): void {
  const share = Math.round((100 * compared) / (compared + refused))
  say(`${kind.kind}: ${compared} compared, ${refused} refused (${share} % accepted)`)
  if (problem !== undefined) console.error(problem)
  if (counterexample) console.log(JSON.stringify(counterexample, null, 2))
}

function say(line: string): void {
  console.error(`${performance.now().toFixed(0).padStart(8)} ms  ${line}`)
}

function readCommandLine(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean' },
        cases: { type: 'string', default: '1000' },
        seed: { type: 'string', default: String(Math.floor(Math.random() * MAX_SEED)) },
        kind: { type: 'string' },
      },
    })
    if (values.help) {
      console.log(HELP)
      process.exit(0)
    }
    const cases = wholeNumber('--cases', values.cases, 1)
    return { cases, seed: wholeNumber('--seed', values.seed, 0), kinds: kindsOf(values.kind) }
  } catch (error) {
    console.error(`fuzz:merge: ${(error as Error).message}`)
    process.exit(2)
  }
}

function wholeNumber(flag: string, text: string, least: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= MAX_SEED) return number
  throw new Error(`${flag} takes a whole number from ${least} to ${MAX_SEED}, not "${text}"`)
}

function kindsOf(wanted: string | undefined): readonly MergeKind[] {
  if (wanted === undefined) return KINDS
  const found = KINDS.filter(({ kind }) => kind === wanted)
  if (found.length > 0) return found
  const known = KINDS.map(({ kind }) => kind).sort()
  throw new Error(`--kind knows ${known.join(', ')}, not "${wanted}"`)
}
