import { connect, type RequestInput } from '../../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import {
  type AutopilotCluster,
  type AutopilotClusterOptions,
  autopilotCluster,
  NAMESPACE,
} from '../../harness/autopilot-fixture.ts'
import type { Scope } from '../../harness/fixture.ts'
import { STATE, VALIDATING } from '../../harness/objects.ts'
import { until } from '../../harness/until.ts'
import { type Actor, createActor } from './actor.ts'
import { oursOf, plain } from './manifest.ts'
import { type Edit, edited, SUBJECTS, type Subject, verdictProgram } from './subjects.ts'

/** A cluster whose reconciler rests, so that what becomes of an object is the write's doing and the webhook's. */
export interface VerdictCluster extends AutopilotCluster {
  /** Somebody of this name; by default somebody new, since who contests too often is denied, whatever the write. */
  actor(name?: string): Actor
  /** Makes the object anew as the reconciler leaves it, then as somebody had edited it while no webhook saw it. */
  fresh(subject: Subject, given?: Edit): Promise<KubeObject>
  /** Deletes the object past the webhook. */
  absent(subject: Subject): Promise<void>
  /** The object as the reconciler keeps it. */
  kept(subject: Subject): KubeObject
  /** What the webhook counts meanwhile, as "kind operation verdict reason". */
  counted(work: () => Promise<unknown>): Promise<Readonly<Record<string, number>>>
}

const OURS = 'virt-platform-autopilot'
const RECONCILER = `system:serviceaccount:${NAMESPACE}:${OURS}-reconciler`

/** Starts the product, waits until the webhook knows every object, and stops the reconciler. */
export async function verdictCluster(
  t: Scope,
  options: AutopilotClusterOptions = {},
): Promise<VerdictCluster> {
  const cluster = await autopilotCluster(t, {
    program: verdictProgram(t),
    ...options,
    // A machine that stalls for seconds must not have a write pass unjudged.
    reconcilerFlags: ['--webhook-timeout=30', ...(options.reconcilerFlags ?? [])],
  })
  const { read, autopilot } = cluster
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  let actors = 0
  const actor = (name = `actor-${actors++}`) => createActor(client, name, cluster)
  const passing = actor(RECONCILER)
  const pass = async (path: string, input: RequestInput) => {
    const { error } = await passing.send(path, input)
    if (error) throw new Error(error)
  }

  // What is in force is published last, and by nobody once the reconciler rests.
  await until('the state says what is in force', async () =>
    (await read(STATE))?.data['applied.json']?.includes('"swap-enable"'),
  )
  const baselines = new Map<Subject, { readonly whole: KubeObject; readonly ours: KubeObject }>()
  for (const subject of SUBJECTS) {
    await until(`${subject.target.join(' ')} is kept`, () => isKept(subject, read, actor()), 60_000)
    const object = await read(subject.path)
    baselines.set(subject, { whole: plain(object), ours: oursOf(object) })
  }
  // It is registered after the other, which is all that was waited for.
  await until('the last look is registered', () => read(VALIDATING))
  await autopilot.reconciler.stop()

  const baselineOf = (subject: Subject) => {
    const baseline = baselines.get(subject)
    if (!baseline) throw new Error(`nobody keeps ${subject.path}`)
    return baseline
  }
  const absent = async (subject: Subject) => {
    if (await read(subject.path)) await pass(subject.path, { method: 'DELETE' })
  }
  return Object.assign(cluster, {
    actor,
    absent,
    kept: (subject: Subject) => baselineOf(subject).whole,
    async fresh(subject: Subject, given?: Edit) {
      await absent(subject)
      const { path } = subject
      const { whole, ours } = baselineOf(subject)
      const contentType = 'application/apply-patch+yaml'
      const query = { fieldManager: OURS, force: true }
      await pass(path, { method: 'PATCH', contentType, body: ours, query })
      const { metadata } = await read(path)
      const body = edited({ ...whole, metadata: { ...metadata, ...whole.metadata } }, given)
      await pass(path, { method: 'PUT', body, query: { fieldManager: 'given' } })
      await cluster.untilCached(path)
      return read(path)
    },
    async counted(work: () => Promise<unknown>) {
      const before = await requestsOf(autopilot.opsPorts.webhook)
      await work()
      const moved = [...(await requestsOf(autopilot.opsPorts.webhook))]
        .map(([key, value]) => [key, value - (before.get(key) ?? 0)] as const)
        .filter(([, value]) => value > 0)
      return Object.fromEntries(moved)
    },
  })
}

/** Whether the webhook would put our label back. */
async function isKept({ path }: Subject, read: AutopilotCluster['read'], actor: Actor) {
  const object = await read(path)
  if (!object?.metadata.labels) return false
  const body = edited(object, ({ metadata }) => delete metadata.labels)
  const { warnings } = await actor.send(path, { method: 'PUT', body, query: { dryRun: 'All' } })
  return warnings.length > 0
}

const REQUESTS = /^virt_platform_admission_requests_total\{(.*)\} (\d+)$/gm
const LABELS = ['kind', 'operation', 'verdict', 'reason']

async function requestsOf(opsPort: number): Promise<ReadonlyMap<string, number>> {
  const reply = await fetch(`http://127.0.0.1:${opsPort}/metrics`)
  const series = [...(await reply.text()).matchAll(REQUESTS)]
  return new Map(
    series.map(([, labels = '', value]) => {
      const words = LABELS.map((label) => new RegExp(`\\b${label}="([^"]*)"`).exec(labels)?.[1])
      return [words.join(' '), Number(value)]
    }),
  )
}
