import { setTimeout as sleep } from 'node:timers/promises'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { send } from '../control-plane/request.ts'
import type { Bench } from './cluster.ts'
import { HCO_EDIT, writeAs } from './edits.ts'
import { median, quantile, spread } from './statistics.ts'
import type { Line, Section } from './table.ts'

const SWITCH_MS = 10_000
const POLL_MS = 20
// Long enough for the reconciler to look at the last write: it must not compete with the next one.
const BETWEEN_WRITES_MS = 30

interface Samples {
  readonly corrected: number[]
  readonly clean: number[]
}

/** What the webhook adds to a write, by the same writes with the product on and off, in turn. */
export async function measureLatency(bench: Bench): Promise<Section> {
  const on: Samples = { corrected: [], clean: [] }
  const off: Samples = { corrected: [], clean: [] }
  const calls = { all: 0, fast: 0 }
  await writeBlock(bench, { corrected: [], clean: [] }, 'warm-up', true)
  for (let round = 0; round < bench.effort.rounds; round++) {
    const before = await webhookCalls(bench.plane)
    await writeBlock(bench, on, `alice-${round}`, true)
    const after = await webhookCalls(bench.plane)
    calls.all += after.all - before.all
    calls.fast += after.fast - before.fast
    await switchTo(bench, false)
    await writeBlock(bench, off, `alice-${round}`, false)
    await switchTo(bench, true)
  }
  return {
    title: 'One update of the HyperConverged through the API server, one at a time',
    lines: [
      ...comparison('corrected update', on.corrected, off.corrected),
      ...comparison('clean update', on.clean, off.clean),
      {
        what: 'webhook calls within 5 ms',
        unit: '%',
        median: (100 * calls.fast) / calls.all,
        n: calls.all,
        goal: '99 %',
      },
    ],
    notes: [
      'Without: the same merge patches with platform.kubevirt.io/autopilot=false, which takes the registration away,',
      `in ${bench.effort.rounds} alternating blocks. Added: the difference of the medians, and of the p99s. An update is two calls.`,
      'Calls within 5 ms by the API server’s apiserver_admission_webhook_admission_duration_seconds.',
    ],
  }
}

function comparison(what: string, on: readonly number[], off: readonly number[]): readonly Line[] {
  const added = median(on) - median(off)
  return [
    { what: `${what}, with the webhook`, unit: 'ms', ...spread(on) },
    { what: `${what}, without`, unit: 'ms', ...spread(off) },
    {
      what: '  added',
      unit: 'ms',
      median: added,
      p99: quantile(on, 0.99) - quantile(off, 0.99),
      goal: 'p99 under 5 ms',
    },
    {
      what: '  ratio',
      unit: '×',
      median: median(on) / median(off),
      p99: quantile(on, 0.99) / quantile(off, 0.99),
    },
  ]
}

let migrations = 0

/** Times writes that set a managed field besides another one, and writes of the other one alone, in turn. */
async function writeBlock(bench: Bench, samples: Samples, user: string, isCorrected: boolean) {
  for (let write = 0; write < bench.effort.writesPerBlock; write++) {
    // A value that changes each time: what changes nothing is not stored.
    migrations = (migrations % 50) + 1
    const isEdit = write % 2 === 0
    const liveMigrationConfig = {
      parallelMigrationsPerCluster: migrations,
      ...(isEdit && { allowPostCopy: true }),
    }
    const startedAt = performance.now()
    const stored = await writeAs(bench.client, user, HCO_EDIT, {
      spec: { virtualization: { liveMigrationConfig } },
    })
    samples[isEdit ? 'corrected' : 'clean'].push(performance.now() - startedAt)
    if (HCO_EDIT.isEdited(stored) === isCorrected)
      throw new Error(`a write was ${isCorrected ? 'not ' : ''}corrected`)
    await sleep(BETWEEN_WRITES_MS)
  }
}

/** Switches the product on or off, and waits until the API server asks the webhook again, or no more. */
async function switchTo(bench: Bench, isOn: boolean): Promise<void> {
  const { client, untilReady } = bench
  const autopilot = isOn ? null : 'false'
  await writeAs(client, 'admin', HCO_EDIT, {
    metadata: { annotations: { 'platform.kubevirt.io/autopilot': autopilot } },
  })
  const deadline = performance.now() + SWITCH_MS
  while ((await isWebhookAsked(bench)) !== isOn || (isOn && (await isStillEdited(bench)))) {
    if (performance.now() > deadline)
      throw new Error(`the product is not ${isOn ? 'on' : 'off'} after ${SWITCH_MS} ms`)
    await sleep(POLL_MS)
  }
  if (isOn) await untilReady()
}

// With the product off the webhook allows everything: only the API server knows whether it was asked.
async function isWebhookAsked({ plane, client }: Bench): Promise<boolean> {
  const before = await webhookCalls(plane)
  await writeAs(client, 'admin', HCO_EDIT, {}, { dryRun: 'All' })
  return (await webhookCalls(plane)).all > before.all
}

async function isStillEdited({ client }: Bench): Promise<boolean> {
  const { body } = await client.send(pathOf(HCO_EDIT.at, HCO_EDIT.name))
  return HCO_EDIT.isEdited(body as KubeObject)
}

const DURATION = 'apiserver_admission_webhook_admission_duration_seconds'

/** How often the API server has called our webhooks, and how often it was answered within 5 ms. */
async function webhookCalls({ url, ca, token }: ControlPlane) {
  const { text } = await send(`${url}/metrics`, { ca, token })
  const sumOf = (series: string, label: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${DURATION}_${series}{`))
      .filter((line) => line.includes('.platform.kubevirt.io"') && line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  return { all: sumOf('count', ''), fast: sumOf('bucket', 'le="0.005"') }
}
