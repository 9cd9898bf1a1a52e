import { setTimeout as sleep } from 'node:timers/promises'

import { BASELINE } from '../../../src/shared/baseline/names.ts'
import type { Client } from '../../../src/shared/cluster/client.ts'
import { watch } from '../../../src/shared/cluster/watch.ts'
import type { AuditedRequest } from '../audit.ts'
import type { Bench } from '../bench.ts'
import { EDITS, type Edit, isEdited, writeAs } from '../edits.ts'
import { spread } from '../statistics.ts'
import { type Line, line, type Section } from '../table.ts'

const PATIENCE_MS = 10_000
const BETWEEN_EDITS_MS = 50
const EVENTS_MS = 1_000

/** How long a wrong value is stored while the webhook is away, and what healing it costs. */
export async function measureHeal(bench: Bench): Promise<Section> {
  const { audit, effort } = bench
  const { heals, requests } = await bench.withoutWebhook(async () => {
    await audit.untilQuiet()
    const mark = audit.mark()
    const heals = await healAll(bench)
    await sleep(EVENTS_MS)
    return { heals, requests: audit.since(mark).others }
  })
  await bench.untilReady()
  return {
    title: 'Wrong value stored while the webhook is down (from edit to heal, as a watch sees both)',
    lines: [
      ...EDITS.map(({ kind }, index) =>
        line(kind, 'ms', spread(heals[index] ?? []), 'p50 under 50 ms, p99 under 300 ms'),
      ),
      ...costs(requests, effort.edits * EDITS.length),
    ],
    notes: ['Requests of the reconciler by the audit log, its watches and its Lease aside.'],
  }
}

/** Edits each object in turn; how long each of its wrong values was stored. */
async function healAll({ client, effort }: Bench): Promise<readonly (readonly number[])[]> {
  const ending = new AbortController()
  const heals = EDITS.map((): number[] => [])
  try {
    const watches = EDITS.map((edit) => watchHeals(client, edit, ending.signal))
    const nextHeals = await Promise.all(watches)
    for (let round = 0; round < effort.edits; round++) {
      for (const [index, edit] of EDITS.entries()) {
        const heal = nextHeals[index]?.()
        await writeAs(client, 'alice', edit, edit.patch)
        heals[index]?.push((await heal) ?? Number.NaN)
        await sleep(BETWEEN_EDITS_MS)
      }
    }
    return heals
  } finally {
    ending.abort()
  }
}

/** Follows one object. What it returns waits for the next edit and tells how long it stayed. */
async function watchHeals(
  client: Client,
  edit: Edit,
  signal: AbortSignal,
): Promise<() => Promise<number>> {
  let editedAt: number | undefined
  let waiting = Promise.withResolvers<number>()
  const synced = Promise.withResolvers<void>()
  void watch({
    client,
    at: edit.at,
    name: edit.name,
    signal,
    onSync: synced.resolve,
    onTrouble: (error) => waiting.reject(error),
    onChange(_key, object) {
      if (!object) return
      const now = performance.now()
      if (isEdited(edit, object)) editedAt ??= now
      else if (editedAt !== undefined) {
        waiting.resolve(now - editedAt)
        editedAt = undefined
      }
    },
  })
  await synced.promise
  return () => {
    waiting = Promise.withResolvers<number>()
    const tooLate = new Error(`${edit.kind}: not healed within ${PATIENCE_MS} ms`)
    const patience = setTimeout(() => waiting.reject(tooLate), PATIENCE_MS)
    const heal = waiting.promise.finally(() => clearTimeout(patience))
    // Nobody waits for it when the edit itself fails.
    heal.catch(() => undefined)
    return heal
  }
}

const PARTS: readonly (readonly [what: string, isPart: (request: AuditedRequest) => boolean])[] = [
  ['events', ({ objectRef }) => objectRef?.resource === 'events'],
  ['dry runs', ({ requestURI }) => requestURI.includes('dryRun=')],
  ['writes of the state', ({ objectRef }) => objectRef?.name === BASELINE.stateConfigMap],
  ['writes of the object', ({ verb }) => verb === 'patch'],
  ['others', () => true],
]

/** The requests per healed edit, and of what kind they are: of the first that fits. */
function costs(requests: readonly AuditedRequest[], edits: number): readonly Line[] {
  const parts = Map.groupBy(requests, (request) => PARTS.find(([, isPart]) => isPart(request))?.[0])
  const lineOf = (what: string, { length }: readonly unknown[], goal?: string) =>
    line(what, '', { median: length / edits, n: edits }, goal)
  return [
    lineOf('requests per healed edit (mean)', requests, 'at most 3'),
    ...[...parts].map(([what, some]) => lineOf(`  ${what}`, some)),
  ]
}
