import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'

import { signalOnTermination } from '../../src/shared/ops/shutdown.ts'
import { controlPlaneBinaries, type Setup, withBench } from './cluster.ts'
import { PAGE, readCommandLine } from './command-line.ts'
import { QUICK } from './effort.ts'
import { NAMES, ON_ONE_CLUSTER, ON_THEIR_OWN } from './measurements.ts'
import { type Machine, type Measurement, requirePlaces, withMeasurements } from './page.ts'
import { type Section, tableOf } from './table.ts'

const ROOT = join(import.meta.dirname, '../..')
const RESULTS = join(ROOT, 'bench-results.json')

const { effort, wanted, isWritten } = readCommandLine(process.argv.slice(2), NAMES)
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
  const startedAt = performance.now()
  const loadBefore = loadavg()
  if (isWritten) requirePlaces(readPage(), wanted)
  buildBundle()
  const binaries = await controlPlaneBinaries(progress)
  const measured = await measureAll({ binaries, effort, interrupted })
  const sections = measured.map(({ section }) => section)
  const about = {
    date: new Date().toISOString(),
    node: process.version,
    kubernetes: binaries.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    loadBefore,
    loadAfter: loadavg(),
    seconds: Math.round((performance.now() - startedAt) / 1000),
    effort,
  }
  writeFileSync(RESULTS, `${JSON.stringify({ ...about, sections }, null, 2)}\n`)
  const versions = [`Node ${about.node.slice(1)}`, `Kubernetes ${about.kubernetes}`]
  if (isWritten) writePage({ versions, cores: about.cores, cpu: about.cpu }, measured)
  const load = [loadBefore, about.loadAfter].map(([minute = 0]) => minute.toFixed(1)).join(' → ')
  console.log(`${tableOf(sections)}

Node ${about.node}, Kubernetes ${about.kubernetes}, ${about.cores} × ${about.cpu}, load ${load}, ${about.seconds} s${effort === QUICK ? '; --quick: these numbers say nothing' : ''}
Written to ${RESULTS}${isWritten ? ` and ${PAGE}` : ''}`)

  async function measureAll(setup: Setup): Promise<readonly Measurement[]> {
    const isShared = wanted.some((name) => name in ON_ONE_CLUSTER)
    const shared = isShared ? await withBench(setup, (on) => measureWith(ON_ONE_CLUSTER, on)) : []
    return [...shared, ...(await measureWith(ON_THEIR_OWN, setup))]
  }

  async function measureWith<On>(
    measurements: Readonly<Record<string, (on: On) => Promise<Section>>>,
    on: On,
  ): Promise<readonly Measurement[]> {
    const measured: Measurement[] = []
    for (const [name, measure] of Object.entries(measurements)) {
      if (!wanted.includes(name)) continue
      progress(`measuring: ${name}`)
      measured.push(await timed(name, () => measure(on)))
    }
    return measured
  }

  function progress(line: string) {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.error(`${seconds.padStart(6)}s  ${line}`)
  }
}

async function timed(name: string, measure: () => Promise<Section>): Promise<Measurement> {
  const [before = 0] = loadavg()
  const startedAt = performance.now()
  const section = await measure()
  const [after = 0] = loadavg()
  const seconds = (performance.now() - startedAt) / 1000
  return { name, section, date: new Date(), seconds, load: [before, after] }
}

function writePage(machine: Machine, measured: readonly Measurement[]): void {
  writeFileSync(join(ROOT, PAGE), withMeasurements(readPage(), machine, measured))
}

function readPage() {
  return { name: PAGE, text: readFileSync(join(ROOT, PAGE), 'utf8') }
}

function buildBundle(): void {
  const { status, error } = spawnSync(process.execPath, [join(ROOT, 'tools/build.mjs')], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('building the bundle failed', { cause: error })
}
