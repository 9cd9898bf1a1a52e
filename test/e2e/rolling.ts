import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NAMESPACE } from '../chart/helm.ts'
import type { Loose } from '../chart/pods.ts'
import type { Rehearsal, Said } from './rehearsal.ts'
import { startWrites } from './writes.ts'

const OURS = 'app.kubernetes.io/name=virt-platform-autopilot'
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const AROUND = 10

/** Does something while somebody writes: no write fails, and each edit of a managed field is put back. */
export async function underWrites(
  rehearsal: Rehearsal,
  work: () => Promise<unknown>,
): Promise<void> {
  const writes = startWrites(rehearsal)
  try {
    await writes.more(AROUND)
    await work()
    await writes.more(AROUND)
  } finally {
    await writes.stop()
  }
  const { stored, corrected, unjudged, failures } = await writes.stop()
  deepEqual(failures, [])
  equal(unjudged, 0, `${unjudged} edits were not judged, ${corrected} were`)
  ok(stored >= AROUND / 2 && corrected >= AROUND / 2)
}

/** Waits until all replicas are there, and ready. */
const untilRolledOut = ({ kubectl }: Rehearsal) =>
  kubectl(
    'rollout',
    'status',
    'deployment',
    `--selector=${OURS}`,
    `--namespace=${NAMESPACE}`,
    '--timeout=5m',
  )

const webhooks = async ({ read }: Rehearsal): Promise<readonly Loose[]> => {
  const selector = encodeURIComponent(`${OURS},app.kubernetes.io/component=webhook`)
  const { items } = await read(`${PODS}?labelSelector=${selector}`)
  return items.filter(({ metadata }: Loose) => !metadata.deletionTimestamp)
}

/** Asks for the eviction of a pod, once: kubectl does not ask again as our client would. */
function evict({ kubectl, folder }: Rehearsal, name: string): Promise<Said> {
  const file = join(folder, `evict-${name}.json`)
  const metadata = { name, namespace: NAMESPACE }
  writeFileSync(file, JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata }))
  return kubectl('create', `--raw=${PODS}/${name}/eviction`, `--filename=${file}`)
}

/** Asks for the eviction of both replicas at once, of which the budget allows one; then drains a node of our pods. */
export const drain = (rehearsal: Rehearsal): Promise<void> =>
  underWrites(rehearsal, async () => {
    const pods = await webhooks(rehearsal)
    equal(pods.length, 2)
    const evictions = await Promise.allSettled(
      pods.map(({ metadata: { name } }) => evict(rehearsal, name)),
    )
    const refused = evictions.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    equal(refused.length, 1)
    match(String(refused[0]), /disruption budget/)
    await untilRolledOut(rehearsal)
    const { kubectl } = rehearsal
    const [pod] = await webhooks(rehearsal)
    const node = pod.spec.nodeName
    try {
      await kubectl('drain', node, `--pod-selector=${OURS}`, '--timeout=5m')
      await untilRolledOut(rehearsal)
      const left = (await webhooks(rehearsal)).filter(({ spec }) => spec.nodeName === node)
      equal(left.length, 0)
    } finally {
      await kubectl('uncordon', node)
    }
  })
