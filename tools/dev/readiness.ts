import { setTimeout as sleep } from 'node:timers/promises'

import { type Client, isConflict, isForbidden } from '../../src/shared/cluster/client.ts'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import { type Leashed, lastLines } from '../control-plane/processes.ts'
import type { Autopilot } from './autopilot.ts'

const READY_MS = 120_000
// Each time both processes write all of their metrics down.
const POLL_MS = 100

/** Waits until the webhook judges writes and the leader has brought every active object to its baseline. */
export async function untilReady(
  { webhook, reconciler, opsPorts, assets }: Autopilot,
  client: Client,
  hco: KubeObject,
) {
  const checks = [
    { what: 'the webhook is ready', isDone: () => isReady(opsPorts.webhook) },
    { what: 'every object is in sync', isDone: () => isInSync(opsPorts.reconciler, assets) },
    { what: 'the API server asks the webhook', isDone: () => isJudged(client, hco) },
  ]
  const deadline = performance.now() + READY_MS
  for (const { what, isDone } of checks) {
    while (!(await isDone())) {
      for (const process of [webhook, reconciler]) requireRunning(process.child())
      if (performance.now() > deadline)
        throw new Error(
          `not so after ${READY_MS / 1000} s: ${what}; see ${reconciler.child().logFile} and webhook.log beside it`,
        )
      await sleep(POLL_MS)
    }
  }
}

/** Throws, with its last words, where one of our processes has ended. */
export function requireRunning(child: Leashed): void {
  if (!child.isRunning())
    throw new Error(`the ${child.name} ended by itself:\n${lastLines(child.output())}`)
}

const fetchText = async (port: number, path: string) => {
  try {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`)
    return reply.ok ? await reply.text() : undefined
  } catch {
    return undefined
  }
}

const isReady = async (port: number) => (await fetchText(port, '/readyz')) !== undefined

// Only what is active has a compliance; that every asset was looked at shows in their durations.
async function isInSync(port: number, assets: number): Promise<boolean> {
  const lines = ((await fetchText(port, '/metrics')) ?? '').split('\n')
  const seriesOf = (name: string) => lines.filter((line) => line.startsWith(`${name}{`))
  const compliance = seriesOf('virt_platform_compliance_status')
  const compared = seriesOf('virt_platform_reconcile_duration_seconds_count')
  return compared.length >= assets && compliance.every((line) => line.endsWith(' 1'))
}

/** Whether a value that only our webhook refuses is refused; a dry run, so that nothing is stored when it is not. */
async function isJudged(client: Client, { apiVersion, metadata }: KubeObject): Promise<boolean> {
  const { name, namespace = '' } = metadata
  try {
    await client.send(pathOf({ apiVersion, resource: 'hyperconvergeds', namespace }, name), {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      query: { dryRun: 'All', fieldManager: 'virt-platform-autopilot-dev' },
      body: { metadata: { annotations: { 'platform.kubevirt.io/mode': 'is anybody there?' } } },
    })
    return false
  } catch (error) {
    if (isConflict(error)) return false
    // A role that forbids says so in other words.
    return isForbidden(error) && error.message.includes('denied the request')
  }
}
