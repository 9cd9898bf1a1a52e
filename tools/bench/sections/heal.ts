import { setTimeout as sleep } from 'node:timers/promises'

import type { Client } from '../../../src/shared/cluster/client.ts'
import { watch } from '../../../src/shared/cluster/watch.ts'
import type { Bench } from '../bench.ts'
import { EDITS, type Edit, isEdited, writeAs } from '../edits.ts'
import { spread } from '../statistics.ts'
import { line, type Section } from '../table.ts'

const PATIENCE_MS = 10_000
const BETWEEN_EDITS_MS = 50
const EVENTS_MS = 1_000

/** How long a wrong value is stored while the webhook is away, and what healing it costs. */
export async function measureHeal(bench: Bench): Promise<Section> {
  const { audit, client, effort } = bench
  const { heals, requests } = await bench.withoutWebhook(async () => {
    await audit.untilQuiet()
    const mark = audit.mark()
    const heals: number[][] = []
    for (const edit of EDITS) heals.push(await healsOf(client, edit, effort.edits))
    await sleep(EVENTS_MS)
    return { heals, requests: audit.since(mark).others.length }
  })
  await bench.untilReady()
  const n = effort.edits * EDITS.length
  return {
    title: 'Wrong value stored while the webhook is down (from edit to heal, as a watch sees both)',
    lines: [
      ...EDITS.map(({ kind }, index) =>
        line(kind, 'ms', spread(heals[index] ?? []), 'p50 under 50 ms, p99 under 300 ms'),
      ),
      line('requests per healed edit (mean)', '', { median: requests / n, n }, 'at most 3'),
    ],
    notes: ['Requests of the reconciler by the audit log, its watches and its Lease aside.'],
  }
}

/** Edits one object again and again; how long each wrong value was stored. */
async function healsOf(client: Client, edit: Edit, edits: number): Promise<number[]> {
  const ending = new AbortController()
  const synced = Promise.withResolvers<void>()
  const heals: number[] = []
  let healed = Promise.withResolvers<number>()
  let editedAt: number | undefined
  void watch({
    client,
    at: edit.at,
    name: edit.name,
    signal: ending.signal,
    onSync: synced.resolve,
    onTrouble: (error) => healed.reject(error),
    onChange(_key, object) {
      if (!object) return
      const now = performance.now()
      if (isEdited(edit, object)) editedAt ??= now
      else if (editedAt !== undefined) {
        healed.resolve(now - editedAt)
        editedAt = undefined
      }
    },
  })
  try {
    await synced.promise
    for (let count = 0; count < edits; count++) {
      // The first time the watch is open by then.
      await sleep(BETWEEN_EDITS_MS)
      healed = Promise.withResolvers()
      await writeAs(client, 'alice', edit, edit.patch)
      const tooLate = sleep(PATIENCE_MS, undefined, { ref: false }).then(() => {
        throw new Error(`${edit.kind}: not healed within ${PATIENCE_MS} ms`)
      })
      heals.push(await Promise.race([healed.promise, tooLate]))
    }
    return heals
  } finally {
    ending.abort()
  }
}
