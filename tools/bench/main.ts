import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { signalOnTermination } from '../../src/shared/ops/shutdown.ts'
import { type Bench, controlPlaneBinaries, withBench } from './cluster.ts'
import { measureDecisions } from './decisions.ts'
import { FULL, QUICK } from './effort.ts'
import { measureHeal } from './heal.ts'
import { measureIdle } from './idle.ts'
import { measureLatency } from './latency.ts'
import { measureMemory } from './memory.ts'
import { measureStart } from './start.ts'
import { type Section, tableOf } from './table.ts'

const ROOT = join(import.meta.dirname, '../..')
const RESULTS = join(ROOT, 'bench-results.json')

// In this order: memory is that of processes which have done all of the rest, and no start is after them.
const MEASUREMENTS: Readonly<Record<string, (bench: Bench) => Promise<Section>>> = {
  start: measureStart,
  heal: measureHeal,
  idle: measureIdle,
  latency: measureLatency,
  decisions: measureDecisions,
  memory: measureMemory,
}
const NAMES = Object.keys(MEASUREMENTS)

const HELP = `Measures the product, bundled as it is shipped, on a control plane of its own.

  npm run bench                        everything, in less than five minutes
  npm run bench -- --quick             everything with tiny counts: whether it works, not how fast
  npm run bench -- --only heal,idle    some of ${NAMES.join(', ')}

Prints a table and writes bench-results.json. Nothing is asserted: it fails only where it could not measure.
`

const { values: flags } = parseArgs({
  options: {
    help: { type: 'boolean' },
    quick: { type: 'boolean' },
    only: { type: 'string', default: NAMES.join(',') },
  },
})
if (flags.help) {
  console.log(HELP)
  process.exit()
}
const wanted = flags.only.split(',')
const unknown = wanted.filter((name) => !NAMES.includes(name))
if (unknown.length > 0) {
  console.error(`bench: --only knows ${NAMES.join(', ')}, not ${unknown.join(', ')}`)
  process.exit(2)
}

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
  buildBundle()
  const binaries = await controlPlaneBinaries(progress)
  const effort = flags.quick ? QUICK : FULL
  const sections = await withBench(binaries, effort, (bench) =>
    Promise.race([measureAll(bench), interrupted]),
  )
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
  const load = [loadBefore, about.loadAfter].map(([minute = 0]) => minute.toFixed(1)).join(' → ')
  console.log(`${tableOf(sections)}

Node ${about.node}, Kubernetes ${about.kubernetes}, ${about.cores} × ${about.cpu}, load ${load}, ${about.seconds} s${flags.quick ? '; --quick: these numbers say nothing' : ''}
Written to ${RESULTS}`)

  async function measureAll(bench: Bench): Promise<readonly Section[]> {
    const measured: Section[] = []
    for (const [name, measure] of Object.entries(MEASUREMENTS)) {
      if (!wanted.includes(name)) continue
      progress(`measuring: ${name}`)
      measured.push(await measure(bench))
    }
    return measured
  }

  function progress(line: string) {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.error(`${seconds.padStart(6)}s  ${line}`)
  }
}

function buildBundle(): void {
  const { status, error } = spawnSync(process.execPath, [join(ROOT, 'tools/build.mjs')], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('building the bundle failed', { cause: error })
}
