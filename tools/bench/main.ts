import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'

import { signalOnTermination } from '../../src/shared/ops/shutdown.ts'
import { type Bench, controlPlaneBinaries, withBench } from './cluster.ts'
import { readCommandLine } from './command-line.ts'
import { measureDecisions } from './decisions.ts'
import { QUICK } from './effort.ts'
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
const { effort, wanted } = readCommandLine(process.argv.slice(2), Object.keys(MEASUREMENTS))
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

Node ${about.node}, Kubernetes ${about.kubernetes}, ${about.cores} × ${about.cpu}, load ${load}, ${about.seconds} s${effort === QUICK ? '; --quick: these numbers say nothing' : ''}
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
