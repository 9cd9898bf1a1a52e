import { setTimeout as sleep } from 'node:timers/promises'

import { callsOf } from '../../../test/cluster/harness/calls.ts'
import { until } from '../../../test/cluster/harness/until.ts'
import { install } from '../../control-plane/install.ts'
import type { Manifest } from '../../control-plane/manifests.ts'
import type { Bench } from '../bench.ts'
import { HCO_EDIT, isEdited, writeAs } from '../edits.ts'
import { rotated, spread } from '../statistics.ts'
import { line, type Section } from '../table.ts'

const KINDS = ['clean', 'corrected'] as const
type Kind = (typeof KINDS)[number]

/** An object that is updated, and what happens to an update of it. */
interface Way {
  readonly namespace: string
  /** Whether something puts the field back. */
  readonly isGuarded: boolean
  readonly tookMs: Record<Kind, number[]>
}

const WARM_UP = 5
// Long enough for the reconciler to look at the last write: it must not compete with the next one.
const BETWEEN_WRITES_MS = 30
const FAST_MS = 5
const NAMESPACE = HCO_EDIT.at.namespace ?? ''

/** There are three HyperConvergeds: the product is told which is meant. */
export const HCO_FLAG = `--hco-namespace=${NAMESPACE}`

/** What the webhook adds to an update, and what policies within the API server do: three objects, updated in turn. */
export async function measureAdded(bench: Bench): Promise<Section> {
  const nothing = wayOf('bench-nothing', false)
  const webhook = wayOf(NAMESPACE, true)
  const policies = wayOf('bench-policies', true)
  const areServed = await arePoliciesServed(bench)
  await prepare(bench, [nothing, policies], areServed ? policiesFor(policies.namespace) : [])
  if (areServed) {
    const dryRun = () => writeTo(bench, policies, 'admin', HCO_EDIT.patch, { dryRun: 'All' })
    await until('the policies are compiled', async () => !isEdited(HCO_EDIT, await dryRun()))
  }
  const ways = areServed ? [nothing, webhook, policies] : [nothing, webhook]
  for (let update = 0; update < WARM_UP; update++) await updateAll(bench, ways, update)
  for (const kind of KINDS) for (const { tookMs } of ways) tookMs[kind].length = 0
  const before = await callDurations(bench)
  for (let update = 0; update < bench.effort.updates; update++)
    await updateAll(bench, ways, update + WARM_UP)
  const after = await callDurations(bench)
  const calls = after.all - before.all
  const share = (100 * (after.fast - before.fast)) / calls
  const added = (kind: Kind, { tookMs }: Way) =>
    spread(tookMs[kind].map((took, update) => took - (nothing.tookMs[kind][update] ?? Number.NaN)))
  return {
    title: 'Time that is added to one update of the HyperConverged, one at a time',
    lines: [
      ...KINDS.flatMap((kind) => [
        line(`${kind} update, nothing asked`, 'ms', spread(nothing.tookMs[kind])),
        line('  added by the webhook', 'ms', added(kind, webhook), 'p99 under 5 ms'),
        line('  added by policies of the API server', 'ms', added(kind, policies)),
      ]),
      line(`webhook calls within ${FAST_MS} ms`, '%', { median: share, n: calls }, '99 %'),
    ],
    notes: [
      'Three HyperConvergeds, alike but for their namespaces, get the same update one after another, in an order that changes.',
      'Added: median and p99 of the differences within each such three. The webhook is asked twice: to mutate and to validate.',
      'Of the others, too, the API server finds out by the registration’s conditions that they are not the webhook’s.',
      'Policies: a MutatingAdmissionPolicy that puts the same field back, and a ValidatingAdmissionPolicy that looks at it.',
      'A corrected update of the first stays as it is: what is added is the correction.',
      `Calls within ${FAST_MS} ms by the API server’s apiserver_admission_webhook_admission_duration_seconds.`,
    ],
  }
}

const wayOf = (namespace: string, isGuarded: boolean): Way => ({
  namespace,
  isGuarded,
  tookMs: { clean: [], corrected: [] },
})

/** Whether this API server knows policies that change an object: not all that the product runs on do. */
const arePoliciesServed = async ({ read }: Bench): Promise<boolean> =>
  JSON.stringify(await read(`/apis/${POLICY_API}`)).includes('"mutatingadmissionpolicies"')

/** How often the API server has called our webhooks, and how often it was answered fast. */
async function callDurations(bench: Bench) {
  const series = Object.entries((await callsOf(bench)).series)
  const sum = (metric: string, label = '') =>
    series
      .filter(([name]) => name.includes(`_admission_duration_seconds_${metric}{`))
      .filter(([name]) => name.includes(label))
      .reduce((total, [, value]) => total + Number(value), 0)
  return { all: sum('count'), fast: sum('bucket', `le="${FAST_MS / 1000}"`) }
}

/** Creates a HyperConverged like the managed one for each of these ways, and the policies. */
async function prepare(bench: Bench, ways: readonly Way[], policies: readonly Manifest[]) {
  const { spec } = await writeAs(bench.client, 'admin', HCO_EDIT, {}, { dryRun: 'All' })
  const copies = ways.flatMap(({ namespace }): Manifest[] => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { ...bench.hco, metadata: { name: HCO_EDIT.name, namespace }, spec },
  ])
  await install(bench, [...copies, ...policies])
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
  const isEdit = kind === 'corrected'
  const liveMigrationConfig = {
    parallelMigrationsPerCluster: migrations,
    allowPostCopy: isEdit,
  }
  const patch = { spec: { virtualization: { liveMigrationConfig } } }
  const startedAt = performance.now()
  // Another user each time: whoever insists is denied.
  const stored = await writeTo(bench, way, `alice-${update}`, patch)
  way.tookMs[kind].push(performance.now() - startedAt)
  if (isEdited(HCO_EDIT, stored) !== (isEdit && !way.isGuarded))
    throw new Error(`an update was ${way.isGuarded ? 'not ' : ''}corrected in ${way.namespace}`)
  await sleep(BETWEEN_WRITES_MS)
}

const writeTo = (
  { client }: Bench,
  { namespace }: Way,
  user: string,
  patch: object,
  query: { readonly dryRun?: 'All' } = {},
) => writeAs(client, user, { ...HCO_EDIT, at: { ...HCO_EDIT.at, namespace } }, patch, query)

const POLICY_API = 'admissionregistration.k8s.io/v1'
const POLICY = 'bench-no-post-copy'
const FIELD =
  'object.spec.?virtualization.?liveMigrationConfig.?allowPostCopy.orValue(false) == false'
const CORRECTION =
  'Object{spec: Object.spec{virtualization: Object.spec.virtualization{liveMigrationConfig: Object.spec.virtualization.liveMigrationConfig{allowPostCopy: false}}}}'

/**
 * Policies that the API server runs by itself, for one namespace: they put the field back that the edit of the
 * HyperConverged moves, and then look whether it is there. As many as the webhook has entries.
 */
const policiesFor = (namespace: string): readonly Manifest[] => {
  const matchConstraints = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    resourceRules: [
      {
        apiGroups: ['hco.kubevirt.io'],
        apiVersions: ['v1'],
        resources: ['hyperconvergeds'],
        operations: ['CREATE', 'UPDATE'],
      },
    ],
  }
  const common = { failurePolicy: 'Fail', matchConstraints }
  return [
    policyObject('MutatingAdmissionPolicy', {
      ...common,
      reinvocationPolicy: 'IfNeeded',
      matchConditions: [{ name: 'moved', expression: `!(${FIELD})` }],
      mutations: [
        { patchType: 'ApplyConfiguration', applyConfiguration: { expression: CORRECTION } },
      ],
    }),
    policyObject('MutatingAdmissionPolicyBinding', { policyName: POLICY }),
    policyObject('ValidatingAdmissionPolicy', { ...common, validations: [{ expression: FIELD }] }),
    policyObject('ValidatingAdmissionPolicyBinding', {
      policyName: POLICY,
      validationActions: ['Deny'],
    }),
  ]
}

const policyObject = (kind: string, spec: object): Manifest => ({
  apiVersion: POLICY_API,
  kind,
  metadata: { name: POLICY },
  spec,
})
