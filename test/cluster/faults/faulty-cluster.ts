import { isDeepStrictEqual } from 'node:util'
import { FIELD_MANAGER } from '../../../src/shared/baseline/annotations.ts'
import { asLine, audited, isWrite, jsonLines } from '../harness/audit.ts'
import {
  type AutopilotCluster,
  type AutopilotClusterOptions,
  autopilotCluster,
  type Loose,
} from '../harness/autopilot-fixture.ts'
import type { Scope } from '../harness/fixture.ts'
import { type ApiProxy, type Behind, startProxy } from '../harness/network/proxy.ts'
import { HCO, HEALTH_CHECK, OBJECTS } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

/** What a test asserts with: tap's `t`. */
interface Asserts {
  same(found: unknown, wanted: unknown, ...message: [string]): boolean
}

/** A cluster to break things in, whose objects carry overrides and fields of people's own. */
export interface FaultyCluster extends AutopilotCluster {
  /** Between both processes and the API server. */
  readonly proxy: ApiProxy
  /** Makes an edit that nobody judges: it is the reconciler's to heal. The webhook must be away. */
  readonly edit: () => Promise<void>
  /** Waits until that edit is healed. */
  readonly untilHealed: () => Promise<void>
  /**
   * Does something, and proves that nothing is lost and nothing wrong was written: every object is the one that it
   * was, at its baseline, overrides and people's fields included, and these are all writes that were made meanwhile.
   */
  readonly survive: (
    t: Asserts,
    work: () => Promise<void>,
    writes: readonly RegExp[],
  ) => Promise<void>
  /** Warnings and errors in a log since a mark, each with its reason; by default the reconciler's. */
  readonly complaints: (since: number, of?: 'webhook' | 'reconciler') => readonly string[]
  /** Where the log ends now. */
  readonly mark: (of?: 'webhook' | 'reconciler') => number
}

/** The only write that heals an edit. */
export const HEAL = new RegExp(`^patch ${HEALTH_CHECK}\\?(?!.*dryRun).* 200$`)

const merge = 'application/merge-patch+json'
const OVERRIDE = {
  metadata: {
    annotations: {
      'platform.kubevirt.io/patch': JSON.stringify([
        {
          op: 'add',
          path: '/spec/virtualization/liveMigrationConfig/progressTimeout',
          value: 300,
        },
      ]),
    },
  },
}
const PEOPLES = { metadata: { labels: { 'example.com/team': 'a' } }, spec: { minHealthy: '51%' } }

/** Starts a cluster with both processes behind a proxy, and people's wishes on its objects. */
export async function faultyCluster(
  t: Scope,
  options: AutopilotClusterOptions = {},
): Promise<FaultyCluster> {
  const started = Promise.withResolvers<ApiProxy>()
  const through = async (plane: Behind) => {
    const proxy = await startProxy(t, plane)
    started.resolve(proxy)
    return proxy
  }
  const cluster = await autopilotCluster(t, { isAudited: true, through, ...options })
  const { admin, read, log } = cluster
  await admin('PATCH', HCO, OVERRIDE, merge)
  await admin('PATCH', HEALTH_CHECK, PEOPLES, merge)
  // The webhook corrects the write itself, whose field is the writer's then: taking it back is a write of ours.
  await until('the override is in force, and the field ours again', async () => {
    const { spec, metadata } = await read(HCO)
    const ours = metadata.managedFields.find(
      ({ manager, operation }: Loose) => manager === FIELD_MANAGER && operation === 'Apply',
    )
    return (
      spec.virtualization.liveMigrationConfig.progressTimeout === 300 &&
      JSON.stringify(ours).includes('"f:progressTimeout"')
    )
  })
  const sight = async () => Promise.all(OBJECTS.map(async (path) => identityOf(await read(path))))
  const writes = () => audited(cluster).filter(isWrite).map(asLine)
  const mark = (of: 'webhook' | 'reconciler' = 'reconciler') => log(of).length
  const isAtBaseline = async () => (await read(HEALTH_CHECK)).spec.minHealthy === '51%'
  return Object.assign(cluster, {
    proxy: await started.promise,
    async edit() {
      const wrong = { spec: { minHealthy: '7%' } }
      const { status, body } = await admin('PATCH', HEALTH_CHECK, wrong, merge)
      if (status !== 200)
        throw new Error(`the edit was answered ${status}: ${JSON.stringify(body)}`)
    },
    untilHealed: async () => {
      await until('it is healed', isAtBaseline, 90_000)
    },
    async survive(t: Asserts, work: () => Promise<void>, expected: readonly RegExp[]) {
      const [before, written] = [await sight(), writes().length]
      await work()
      await until(
        'every object is what it was',
        async () => isDeepStrictEqual(await sight(), before),
        90_000,
      ).catch(() => undefined)
      t.same(await sight(), before, 'every object is what it was')
      // A write is seen a moment before it is answered and written down.
      await until(
        'all is written down',
        async () => writes().length >= written + expected.length,
      ).catch(() => undefined)
      const made = writes().slice(written)
      const wrong = made.filter((line, index) => !expected[index]?.test(line))
      t.same(wrong, [], 'no other write was made')
      t.same(made.length, expected.length, 'and none is missing')
    },
    mark,
    complaints(since: number, of: 'webhook' | 'reconciler' = 'reconciler') {
      const bad = jsonLines(log(of).slice(since)).filter(({ level }) => level >= 40)
      return bad.map(({ msg, reason, err }) => [msg, reason ?? err?.message].join(': '))
    },
  })
}

// Some of the objects are only where there is the hardware for them.
const identityOf = (object: Loose) => {
  if (object === undefined) return undefined
  const { metadata, spec, data, webhooks } = object
  const { uid, name, labels, annotations } = metadata
  return { uid, name, labels, annotations, spec, data, webhooks }
}
