import { setTimeout as sleep } from 'node:timers/promises'

import { STATE_CONFIG_MAP } from '../../src/shared/baseline/names.ts'
import type { Client } from '../../src/shared/cluster/client.ts'
import { watch } from '../../src/shared/cluster/watch.ts'
import type { AuditedRequest, Requests } from './audit.ts'
import type { Bench } from './cluster.ts'
import { EDITS, type Edit, writeAs } from './edits.ts'
import { spread } from './statistics.ts'
import type { Line, Section } from './table.ts'

const PATIENCE_MS = 10_000
const BETWEEN_EDITS_MS = 50
const EVENTS_MS = 1_000

/** How long a wrong value is stored while the webhook is away, and what healing it costs. */
export async function measureHeal(bench: Bench): Promise<Section> {
  const { autopilot, audit, effort, untilReady } = bench
  await autopilot.webhook.child().kill()
  await audit.untilQuiet()
  const mark = audit.mark()
  const heals = await healAll(bench)
  await sleep(EVENTS_MS)
  const requests = audit.since(mark)
  autopilot.webhook.start()
  await untilReady()

  const lines = EDITS.map(({ kind }): Line => {
    return {
      what: kind,
      unit: 'ms',
      ...spread(heals.get(kind) ?? []),
      goal: 'p50 under 50 ms, p99 under 300 ms',
    }
  })
  return {
    title: 'Wrong value stored while the webhook is down (from edit to heal, as a watch sees both)',
    lines: [...lines, ...costs(requests, effort.edits * EDITS.length)],
    notes: ['Requests of the reconciler by the audit log, its watches and its Lease aside.'],
  }
}

async function healAll({ client, effort }: Bench): Promise<Map<string, number[]>> {
  const ending = new AbortController()
  const heals = new Map(EDITS.map(({ kind }) => [kind, [] as number[]]))
  try {
    const watched = await Promise.all(
      EDITS.map(async (edit) => ({ edit, healed: await watchHeals(client, edit, ending.signal) })),
    )
    for (let round = 0; round < effort.edits; round++) {
      for (const { edit, healed } of watched) {
        const heal = healed()
        await writeAs(client, 'alice', edit, edit.patch)
        heals.get(edit.kind)?.push(await heal)
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
  { kind, at, name, isEdited }: Edit,
  signal: AbortSignal,
): Promise<() => Promise<number>> {
  let editedAt: number | undefined
  let waiting = Promise.withResolvers<number>()
  const synced = Promise.withResolvers<void>()
  void watch({
    client,
    at,
    name,
    signal,
    onSync: synced.resolve,
    onTrouble: (error) => waiting.reject(error),
    onChange(_key, object) {
      if (!object) return
      const now = performance.now()
      if (isEdited(object)) editedAt ??= now
      else if (editedAt !== undefined) {
        waiting.resolve(now - editedAt)
        editedAt = undefined
      }
    },
  })
  await synced.promise
  return () => {
    waiting = Promise.withResolvers<number>()
    const patience = setTimeout(
      () => waiting.reject(new Error(`${kind}: not healed within ${PATIENCE_MS} ms`)),
      PATIENCE_MS,
    )
    const heal = waiting.promise.finally(() => clearTimeout(patience))
    // Nobody waits for it when the edit itself fails.
    heal.catch(() => undefined)
    return heal
  }
}

const PARTS: readonly {
  readonly what: string
  readonly isPart: (request: AuditedRequest) => boolean
}[] = [
  { what: 'events', isPart: ({ objectRef }) => objectRef?.resource === 'events' },
  { what: 'dry runs', isPart: ({ requestURI }) => requestURI.includes('dryRun=') },
  { what: 'writes of the state', isPart: ({ objectRef }) => objectRef?.name === STATE_CONFIG_MAP },
  { what: 'writes of the object', isPart: ({ verb }) => verb === 'patch' },
  { what: 'others', isPart: () => true },
]

/** The requests per healed edit, and of what kind they are: of the first that fits. */
function costs({ others }: Requests, edits: number): readonly Line[] {
  const parts = Map.groupBy(others, (request) => PARTS.find(({ isPart }) => isPart(request))?.what)
  const line = (what: string, count: number): Line => ({
    what,
    unit: '',
    median: count / edits,
    n: edits,
  })
  return [
    { ...line('requests per healed edit (mean)', others.length), goal: 'at most 3' },
    ...[...parts].map(([what, requests]) => line(`  ${what}`, requests.length)),
  ]
}
