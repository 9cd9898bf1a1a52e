import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { signalOnTermination } from '../../src/shared/ops/shutdown.ts'
import { findBinaries } from '../go-programs/binaries.ts'
import { measureAgainst, runBuild } from './against.ts'
import { type Bench, type BenchOptions, withBench } from './bench.ts'
import { FULL, IN_TURNS, QUICK } from './effort.ts'
import { type Measurement, measurementText, PAGE, withPlaces } from './page.ts'
import { MEASURES, type Measure } from './sections.ts'
import type { Section } from './table.ts'

const ROOT = join(import.meta.dirname, '../..')
const RESULTS = join(ROOT, 'bench-results.json')

const HELP = `\
Measures the product, bundled as it is shipped, on a control plane of its own.

  npm run bench                        everything, in about half an hour
  npm run bench -- --quick             everything with tiny counts: whether it works, not how fast
  npm run bench -- --only heal,idle    some of ${namesOf(MEASURES)}
  npm run bench -- --write             writes what was measured to ${PAGE} too; with --only, the rest of it stays
  npm run bench -- --against REV       the build of a commit and this one in turns, and the ratios; with --only, some of
                                       ${namesOf(MEASURES.filter(({ isRepeatable }) => isRepeatable))}

Prints tables and writes bench-results.json. Nothing is asserted: it fails only where it could not measure.
`

const { wanted, effort, isWritten, against } = readCommandLine()
const startedAt = performance.now()
const signal = signalOnTermination()
const interrupted = new Promise<never>((_resolve, reject) => {
  signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true })
})
interrupted.catch(() => undefined)
try {
  await bench()
} catch (error) {
  console.error('bench: could not measure:', signal.aborted ? 'interrupted' : error)
  process.exitCode = signal.aborted ? 130 : 1
}
// What was interrupted is still waiting for its answers.
process.exit()

async function bench(): Promise<void> {
  const page = join(ROOT, PAGE)
  const pageWith = (texts: Readonly<Record<string, string>>) =>
    withPlaces(readFileSync(page, 'utf8'), texts)
  // A place that is gone is told of before half an hour is spent on measuring.
  if (isWritten) pageWith(Object.fromEntries(wanted.map(({ name }) => [name, ''])))
  runBuild(ROOT)
  const { version } = await findBinaries({ env: process.env, print: progress, controllers: false })
  const measured = await measureAll()
  const machine = {
    versions: [`Node ${process.versions.node}`, `Kubernetes ${version}`],
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
  }
  const texts = Object.fromEntries(measured.map((one) => [one.name, measurementText(machine, one)]))
  if (isWritten) writeFileSync(page, pageWith(texts))
  writeFileSync(RESULTS, `${JSON.stringify({ ...machine, effort, measured }, null, 2)}\n`)
  console.log(Object.values(texts).join('\n\n'))
  const doubt = effort === QUICK ? '; --quick: these numbers say nothing' : ''
  console.log(`\nWritten to ${RESULTS}${isWritten ? ` and ${PAGE}` : ''}${doubt}`)
}

async function measureAll(): Promise<readonly Measurement[]> {
  const optionsFor = ({ ownFlags: reconcilerFlags }: Measure): BenchOptions => ({
    effort,
    interrupted,
    ...(reconcilerFlags && { reconcilerFlags }),
  })
  if (against !== undefined)
    return inTurn(wanted, (measure) => measureAgainst(measure, against, optionsFor(measure)))
  const onOne = wanted.filter(({ ownFlags }) => !ownFlags)
  const shared = (bench: Bench) => inTurn(onOne, ({ run }) => run(bench))
  const onTheirOwn = wanted.filter(({ ownFlags }) => ownFlags)
  return [
    ...(onOne.length > 0 ? await withBench({ effort, interrupted }, shared) : []),
    ...(await inTurn(onTheirOwn, (measure) => withBench(optionsFor(measure), measure.run))),
  ]
}

async function inTurn(
  measures: readonly Measure[],
  run: (measure: Measure) => Promise<Section>,
): Promise<readonly Measurement[]> {
  const measured: Measurement[] = []
  for (const measure of measures) {
    progress(`measuring: ${measure.name}`)
    const [before = 0] = loadavg()
    const from = performance.now()
    const section = await run(measure)
    const [after = 0] = loadavg()
    const seconds = (performance.now() - from) / 1000
    measured.push({ name: measure.name, section, date: new Date(), seconds, load: [before, after] })
  }
  return measured
}

function progress(line: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.error(`${seconds.padStart(6)}s  ${line}`)
}

function namesOf(measures: readonly Measure[]): string {
  return measures.map(({ name }) => name).join(', ')
}

/** Reads which measurements are wanted and how much of them; ends the process for --help and for mistakes. */
function readCommandLine() {
  const [off, text] = [{ type: 'boolean', default: false }, { type: 'string' }] as const
  const options = { help: off, quick: off, write: off, only: text, against: text }
  try {
    const { help, quick, write: isWritten, only, against } = parseArgs({ options }).values
    if (help) {
      console.log(HELP)
      process.exit(0)
    }
    if (isWritten && (quick || against !== undefined))
      throw new Error(`what --quick and --against measure is never written to ${PAGE}`)
    const possible = MEASURES.filter(({ isRepeatable }) => against === undefined || isRepeatable)
    const names = only?.split(',') ?? possible.map(({ name }) => name)
    const unknown = names.find((name) => !possible.some((measure) => measure.name === name))
    if (unknown !== undefined)
      throw new Error(`--only knows ${namesOf(possible)} here, not "${unknown}"`)
    const effort = quick ? QUICK : against === undefined ? FULL : IN_TURNS
    const wanted = possible.filter(({ name }) => names.includes(name))
    return { isWritten, against, effort, wanted }
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`)
    process.exit(2)
  }
}
