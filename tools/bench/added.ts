import { setTimeout as sleep } from 'node:timers/promises'

import { install } from '../control-plane/install.ts'
import type { Manifest } from '../control-plane/manifests.ts'
import { type Bench, DEFAULT_FLAGS, type Setup, withBench } from './cluster.ts'
import { HCO_EDIT, writeAs } from './edits.ts'
import { rotated } from './peers/rounds.ts'
import { policiesFor } from './policies.ts'
import { spread } from './statistics.ts'
import type { Line, Section } from './table.ts'

const KINDS = ['clean', 'corrected'] as const
type Kind = (typeof KINDS)[number]

/** An object that is updated, and what happens to an update of it. */
interface Way {
  readonly name: string
  readonly namespace: string
  /** Whether something puts the field back. */
  readonly isGuarded: boolean
  readonly tookMs: Record<Kind, number[]>
}

const WARM_UP = 5
const PATIENCE_MS = 10_000
const POLL_MS = 50
// Long enough for the reconciler to look at the last write: it must not compete with the next one.
const BETWEEN_WRITES_MS = 30

/** What the webhook adds to an update, and what policies within the API server do: three objects, updated in turn. */
export const measureAdded = (setup: Setup): Promise<Section> =>
  // There are three HyperConvergeds: on a cluster of its own the product can be told which is meant.
  withBench({ ...setup, reconcilerFlags: [...DEFAULT_FLAGS, hcoFlag()] }, async (bench) => {
    const ways = [
      wayOf('nothing', 'bench-nothing', false),
      wayOf('the webhook', HCO_EDIT.at.namespace ?? '', true),
      wayOf('policies', 'bench-policies', true),
    ] as const
    const [nothing, webhook, policies] = ways
    await updateInTurn(bench, ways)
    return {
      title: 'Time that is added to one update of the HyperConverged, one at a time',
      lines: KINDS.flatMap((kind) => [
        { what: `${kind} update, nothing asked`, unit: 'ms', ...spread(nothing.tookMs[kind]) },
        addedLine('the webhook', webhook.tookMs[kind], nothing.tookMs[kind]),
        addedLine('policies of the API server', policies.tookMs[kind], nothing.tookMs[kind]),
      ]),
      notes: [
        'Three HyperConvergeds, alike but for their namespaces, get the same update one after another, in an order that changes.',
        'Added: median and p99 of the differences within each such three. The webhook is asked twice: to mutate and to validate.',
        'Of the others, too, the API server finds out by the registration’s conditions that they are not the webhook’s.',
        'Policies: a MutatingAdmissionPolicy that puts the same field back, and a ValidatingAdmissionPolicy that looks at it.',
        'A corrected update of the first stays as it is: what is added is the correction.',
      ],
    }
  })

/** Times all updates of all objects: as many as wanted, after a few that do not count. */
async function updateInTurn(bench: Bench, ways: readonly [Way, Way, Way]): Promise<void> {
  const [nothing, webhook, policies] = ways
  const areServed = await arePoliciesServed(bench)
  await prepare(bench, [nothing, policies], areServed ? policiesFor(policies.namespace) : [])
  if (areServed) await untilCorrected(bench, policies)
  const updated = areServed ? ways : [nothing, webhook]
  for (let update = 0; update < WARM_UP; update++) await updateAll(bench, updated, update)
  for (const kind of KINDS) for (const { tookMs } of ways) tookMs[kind].length = 0
  for (let update = 0; update < bench.effort.updates; update++)
    await updateAll(bench, updated, update + WARM_UP)
}

const hcoFlag = () => `--hco-namespace=${HCO_EDIT.at.namespace}`

const wayOf = (name: string, namespace: string, isGuarded: boolean): Way => ({
  name,
  namespace,
  isGuarded,
  tookMs: { clean: [], corrected: [] },
})

const addedLine = (what: string, own: readonly number[], without: readonly number[]): Line => {
  const added = own.map((took, update) => took - (without[update] ?? Number.NaN))
  return {
    what: `  added by ${what}`,
    unit: 'ms',
    ...(added.length > 0 ? spread(added) : { median: undefined }),
    goal: what === 'the webhook' ? 'p99 under 5 ms' : '',
  }
}

/** Whether this API server knows policies that change an object: not all that the product runs on do. */
async function arePoliciesServed({ client }: Bench): Promise<boolean> {
  const { body } = await client.send('/apis/admissionregistration.k8s.io/v1')
  const { resources } = body as { resources: readonly { name: string }[] }
  return resources.some(({ name }) => name === 'mutatingadmissionpolicies')
}

/** Creates a HyperConverged like the managed one for each of these ways, and the policies. */
async function prepare(
  { plane, client, hco }: Bench,
  ways: readonly Way[],
  policies: readonly Manifest[],
) {
  const managed = await writeAs(client, 'admin', HCO_EDIT, {}, { dryRun: 'All' })
  const copies = ways.flatMap(({ namespace }): Manifest[] => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { ...hco, metadata: { name: HCO_EDIT.name, namespace }, spec: managed.spec },
  ])
  await install(plane, [...copies, ...policies])
}

/** Waits until the API server has compiled the policies. */
async function untilCorrected(bench: Bench, way: Way): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  const isCorrected = async () => {
    const stored = await writeTo(bench, way, 'admin', HCO_EDIT.patch, { dryRun: 'All' })
    return !HCO_EDIT.isEdited(stored)
  }
  while (!(await isCorrected())) {
    if (performance.now() > deadline)
      throw new Error(`the policies correct nothing after ${PATIENCE_MS} ms`)
    await sleep(POLL_MS)
  }
}

let migrations = 0

async function updateAll(bench: Bench, ways: readonly Way[], update: number): Promise<void> {
  for (const kind of KINDS) {
    // A value that changes each time: what changes nothing is not stored.
    migrations = (migrations % 50) + 1
    for (const way of rotated(ways, update)) await timeUpdate(bench, way, kind, update)
  }
}

async function timeUpdate(bench: Bench, way: Way, kind: Kind, update: number): Promise<void> {
  const liveMigrationConfig = {
    parallelMigrationsPerCluster: migrations,
    allowPostCopy: kind === 'corrected',
  }
  const patch = { spec: { virtualization: { liveMigrationConfig } } }
  const startedAt = performance.now()
  // Another user each time: whoever insists is denied.
  const stored = await writeTo(bench, way, `alice-${update}`, patch)
  way.tookMs[kind].push(performance.now() - startedAt)
  const isCorrected = !HCO_EDIT.isEdited(stored)
  if (kind === 'corrected' && isCorrected !== way.isGuarded)
    throw new Error(`with ${way.name}, an update was ${isCorrected ? '' : 'not '}corrected`)
  await sleep(BETWEEN_WRITES_MS)
}

const writeTo = (
  { client }: Bench,
  { namespace }: Way,
  user: string,
  patch: object,
  query: { readonly dryRun?: 'All' } = {},
) => writeAs(client, user, { ...HCO_EDIT, at: { ...HCO_EDIT.at, namespace } }, patch, query)
