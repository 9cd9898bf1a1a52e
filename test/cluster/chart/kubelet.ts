import { setTimeout as sleep } from 'node:timers/promises'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import { Store } from '../../../src/shared/cluster/store.ts'
import type { Loose } from '../../chart/pods.ts'
import { isReady } from '../harness/autopilot-fixture.ts'
import { until } from '../harness/until.ts'
import type { Balancer, Endpoint } from '../rolling/balancer.ts'
import { type Container, type ContainerOptions, startContainer } from './container.ts'

/** The pods of one namespace, to be run as processes of this machine. */
export interface KubeletOptions extends ContainerOptions {
  /** The address that each pod is said to have. */
  readonly address: string
  /** Stands there for every pod that serves admission reviews: one port cannot be several processes'. */
  readonly balancer: Balancer
  readonly print: (line: string) => void
}

const LONG_MS = 300_000
const STRATEGIC = 'application/strategic-merge-patch+json'

/**
 * Does what a kubelet does for pods with one container of our image: mounts, starts, probes, says how they are, and ends them in
 * order. Returns how to end them all.
 */
export function startKubelet(options: KubeletOptions): () => Promise<void> {
  const { client, namespace, print } = options
  const at = { apiVersion: 'v1', resource: 'pods', namespace }
  const pods = new Map<string, PodProcess>()
  let isOver = false
  const tell = (line: string) => isOver || print(line)
  const look = (pod: Loose) => {
    const { uid, name, deletionTimestamp } = pod.metadata
    const known = pods.get(uid)
    const isNew = !known && !deletionTimestamp && pod.status.phase === 'Pending'
    if (!isNew && !(known && deletionTimestamp)) return
    const one = known ?? new PodProcess(options, pod)
    pods.set(uid, one)
    const work = isNew ? one.run() : one.end()
    work.catch((error: Error) => tell(`pod ${name}: ${error.message}`))
  }
  const store = new Store({
    client,
    onTrouble: (_id, error) => tell(`the pods cannot be read: ${error.message}`),
    onChange(id, key) {
      const changed = key === undefined ? store.objects(id) : [store.object(id, key)]
      for (const pod of changed as readonly Loose[]) if (pod?.spec.nodeName) look(pod)
    },
  })
  store.follow('kubelet', [{ id: 'pods', at }])
  return async () => {
    isOver = true
    store.stop()
    await Promise.all([...pods.values()].map((pod) => pod.kill()))
  }
}

/** One pod, from its start to its end. */
class PodProcess {
  readonly #options: KubeletOptions
  readonly #pod: Loose
  #container: Container | undefined
  #isEnding = false

  constructor(options: KubeletOptions, pod: Loose) {
    this.#options = options
    this.#pod = pod
  }

  async run(): Promise<void> {
    const container = await startContainer(this.#options, this.#pod)
    this.#container = container
    if (this.#isEnding) return this.kill()
    const { process, ports } = container
    const { balancer } = this.#options
    const endpoint = endpointOf(container)
    if (endpoint) balancer.add(endpoint)
    await this.#tell('Running', false)
    const { ops } = ports
    // Who is ready and not asked yet must not be counted on.
    const isServing = async () =>
      endpoint ? balancer.isServing(endpoint) : ops === undefined || isReady(ops)
    const isAnswered = async () => !process.isRunning() || (await isServing())
    await until(`${process.name} is ready`, isAnswered, LONG_MS)
    if (process.isRunning()) await this.#tell('Running', true)
    const how = await process.ended
    if (!this.#isEnding) await this.#tell(how === 'exit code 0' ? 'Succeeded' : 'Failed', false)
  }

  /** Ends it as whoever deletes the pod wants it, and has the pod go then. */
  async end(): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    const { client, namespace } = this.#options
    const { metadata, spec } = this.#pod
    if (this.#container?.process.isRunning()) {
      process.kill(this.#container.process.pid, 'SIGTERM')
      const patience = new AbortController()
      const graceMs = 1_000 * spec.terminationGracePeriodSeconds
      const late = sleep(graceMs, undefined, { signal: patience.signal }).catch(() => undefined)
      await Promise.race([this.#container.process.ended, late])
      patience.abort()
    }
    await this.kill()
    const at = { apiVersion: 'v1', resource: 'pods', namespace }
    const { name, uid } = metadata
    await client
      .send(pathOf(at, name), {
        method: 'DELETE',
        body: { gracePeriodSeconds: 0, preconditions: { uid } },
      })
      .catch((error: Error & { status?: number }) => {
        if (error.status !== 404) throw error
      })
  }

  async kill(): Promise<void> {
    if (!this.#container) return
    await this.#container.process.kill()
    const endpoint = endpointOf(this.#container)
    if (endpoint) this.#options.balancer.remove(endpoint)
  }

  async #tell(phase: string, isReadyNow: boolean): Promise<void> {
    const { client, namespace, address } = this.#options
    const { name } = this.#pod.metadata
    const [{ name: container, image }] = this.#pod.spec.containers
    const now = new Date().toISOString()
    const conditionOf = (type: string, isTrue: boolean) => ({
      type,
      status: isTrue ? 'True' : 'False',
      lastTransitionTime: now,
    })
    const state =
      phase === 'Running'
        ? { running: { startedAt: now } }
        : { terminated: { exitCode: phase === 'Succeeded' ? 0 : 1, finishedAt: now } }
    const status = {
      phase,
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: [
        conditionOf('Initialized', true),
        conditionOf('Ready', isReadyNow),
        conditionOf('ContainersReady', isReadyNow),
      ],
      containerStatuses: [
        { name: container, image, imageID: '', restartCount: 0, ready: isReadyNow, state },
      ],
    }
    const at = { apiVersion: 'v1', resource: 'pods', namespace }
    await client.send(`${pathOf(at, name)}/status`, {
      method: 'PATCH',
      contentType: STRATEGIC,
      body: { status },
    })
  }
}

const endpointOf = ({ ports: { admission, ops } }: Container): Endpoint | undefined =>
  admission !== undefined && ops !== undefined ? { port: admission, opsPort: ops } : undefined
