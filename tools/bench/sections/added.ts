import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '../../../test/cluster/harness/until.ts'
import { install } from '../../control-plane/install.ts'
import { type Manifest, manifestsIn } from '../../control-plane/manifests.ts'
import type { Bench } from '../bench.ts'
import { HCO_EDIT, isEdited, writeAs } from '../edits.ts'
import { rotated, spread } from '../statistics.ts'
import { line, type Section } from '../table.ts'

const POLICIES = join(import.meta.dirname, '../peers/policies.yaml')
const KINDS = ['clean', 'corrected'] as const
type Kind = (typeof KINDS)[number]

/** An object that is updated, in a namespace of its own, and how long each update of it took. */
interface Way {
  readonly edit: typeof HCO_EDIT
  /** Whether something puts the field back. */
  readonly isGuarded: boolean
  readonly tookMs: Record<Kind, number[]>
}

const WARM_UP = 5
// Long enough for the reconciler to look at the last write: it must not compete with the next one.
const BETWEEN_WRITES_MS = 30
const NAMESPACE = HCO_EDIT.at.namespace ?? ''

/** There are three HyperConvergeds: the product is told which is meant. */
export const HCO_FLAG = `--hco-namespace=${NAMESPACE}`

/** What the webhook adds to an update, and what policies within the API server do: three objects, updated in turn. */
export async function measureAdded(bench: Bench): Promise<Section> {
  const nothing = wayOf('bench-nothing', false)
  const webhook = wayOf(NAMESPACE, true)
  const policies = wayOf('bench-policies', true)
  const ways = [nothing, webhook, policies]
  await install(bench, [
    ...(await copyOf(bench, 'bench-nothing')),
    ...(await copyOf(bench, 'bench-policies')),
    ...manifestsIn(POLICIES),
  ])
  const { client, effort } = bench
  const tryOut = () => writeAs(client, 'admin', policies.edit, HCO_EDIT.patch, { dryRun: 'All' })
  await until('the policies are compiled', async () => !isEdited(HCO_EDIT, await tryOut()))
  for (let update = 0; update < WARM_UP + effort.updates; update++) {
    for (const kind of KINDS)
      for (const way of rotated(ways, update)) await timeUpdate(bench, way, kind, update)
  }
  const took = (kind: Kind, way: Way) => way.tookMs[kind].slice(WARM_UP)
  const added = (kind: Kind, way: Way) => {
    const base = took(kind, nothing)
    return spread(took(kind, way).map((ms, update) => ms - (base[update] ?? Number.NaN)))
  }
  return {
    title: 'Time that is added to one update of the HyperConverged, one at a time',
    lines: KINDS.flatMap((kind) => [
      line(`${kind} update, nothing asked`, 'ms', spread(took(kind, nothing))),
      line('  added by the webhook', 'ms', added(kind, webhook), 'p99 under 5 ms'),
      line('  added by policies of the API server', 'ms', added(kind, policies)),
    ]),
    notes: [
      'Three HyperConvergeds, alike but for their namespaces, get the same update one after another, in an order that changes.',
      'Added: median and p99 of the differences within each such three. The webhook is asked twice: to mutate and to validate.',
      'Of the others, too, the API server finds out by the registration’s conditions that they are not the webhook’s.',
      'Policies: a MutatingAdmissionPolicy that puts the same field back, and a ValidatingAdmissionPolicy that looks at it.',
      'A corrected update of the first stays as it is: what is added is the correction.',
    ],
  }
}

const wayOf = (namespace: string, isGuarded: boolean): Way => ({
  edit: { ...HCO_EDIT, at: { ...HCO_EDIT.at, namespace } },
  isGuarded,
  tookMs: { clean: [], corrected: [] },
})

/** A HyperConverged like the managed one, in a namespace of its own. */
async function copyOf({ client, hco }: Bench, namespace: string): Promise<readonly Manifest[]> {
  const { spec } = await writeAs(client, 'admin', HCO_EDIT, {}, { dryRun: 'All' })
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { ...hco, metadata: { name: HCO_EDIT.name, namespace }, spec },
  ]
}

async function timeUpdate({ client }: Bench, way: Way, kind: Kind, update: number) {
  const isEdit = kind === 'corrected'
  // A value that changes each time: what changes nothing is not stored.
  const parallelMigrationsPerCluster = ((2 * update + Number(isEdit)) % 50) + 1
  const liveMigrationConfig = { parallelMigrationsPerCluster, allowPostCopy: isEdit }
  const patch = { spec: { virtualization: { liveMigrationConfig } } }
  const startedAt = performance.now()
  // Another user each time: whoever insists is denied.
  const stored = await writeAs(client, `alice-${update}`, way.edit, patch)
  way.tookMs[kind].push(performance.now() - startedAt)
  if (isEdited(HCO_EDIT, stored) !== (isEdit && !way.isGuarded))
    throw new Error(
      `an update was ${way.isGuarded ? 'not ' : ''}corrected in ${way.edit.at.namespace}`,
    )
  await sleep(BETWEEN_WRITES_MS)
}
