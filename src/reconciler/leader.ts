import { setTimeout as sleep } from 'node:timers/promises'
import { LEASE } from '../shared/catalog/names.ts'
import { type Client, isConflict } from '../shared/cluster/client.ts'
import { pathOf, read } from '../shared/cluster/resource.ts'
import type { KubeObject } from '../shared/engine/object.ts'

export interface LeaderOptions {
  readonly client: Client
  readonly namespace: string
  readonly identity: string
  readonly onElected: () => void
  /** The Lease went to someone else, or could not be renewed in time: whoever was elected writes no more. */
  readonly onLost: (reason: string) => void
  readonly onTrouble: (error: Error) => void
  readonly signal: AbortSignal
}

// The durations of client-go's leader election, in which every controller's Lease is read.
const LEASE_SECONDS = 15
const RENEW_DEADLINE_MS = 10_000
const RETRY_MS = 2_000
const ATTEMPT_MS = 4_000

export interface Election {
  /** Whether we hold the Lease and renewed it recently enough for nobody else to have taken it. Ask before every write. */
  readonly isLeader: () => boolean
  /** Takes part until the signal aborts, then releases the Lease. */
  readonly run: () => Promise<void>
}

/**
 * One leader by a Lease. Another holder's clock is never trusted: its Lease is free once we have seen
 * it unchanged for its whole duration, and ours is lost when we could not renew it in time, frozen
 * processes included. See https://kubernetes.io/docs/concepts/architecture/leases/#leader-election
 */
export function createElection(options: LeaderOptions): Election {
  const { signal, onElected, onLost, onTrouble } = options
  const candidate = { ...options, seen: undefined as Seen | undefined }
  let renewedAt = Number.NEGATIVE_INFINITY
  let wasLeader = false
  let isInTrouble = false
  const isLeader = () => performance.now() - renewedAt < RENEW_DEADLINE_MS

  const tellLoss = (reason: string) => {
    wasLeader = false
    onLost(reason)
  }
  const attempt = async () => {
    const attemptedAt = performance.now()
    try {
      const isHeld = await withinTime(acquire(candidate))
      // What we did not do while we were late is as lost as if another had led.
      if (isHeld && wasLeader && !isLeader()) tellLoss('it was renewed too late')
      renewedAt = isHeld ? attemptedAt : Number.NEGATIVE_INFINITY
      isInTrouble = false
    } catch (error) {
      if (!isInTrouble) onTrouble(error as Error)
      isInTrouble = true
    }
  }
  const tellChange = () => {
    if (isLeader() === wasLeader) return
    if (wasLeader) {
      return tellLoss(isInTrouble ? 'it could not be renewed in time' : 'another process holds it')
    }
    wasLeader = true
    onElected()
  }
  return {
    isLeader,
    async run() {
      while (!signal.aborted) {
        await attempt()
        tellChange()
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
      }
      if (isLeader()) await release(options).catch(onTrouble)
      renewedAt = Number.NEGATIVE_INFINITY
    },
  }
}

// An attempt that hangs must leave time for another before the deadline.
const withinTime = <T>(attempt: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer in time')), ATTEMPT_MS)
  return Promise.race([attempt, promise]).finally(() => clearTimeout(timer))
}

interface Seen {
  readonly version: string
  readonly at: number
}

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly leaseTransitions?: number
}

const leaseAt = (namespace: string) => ({
  apiVersion: 'coordination.k8s.io/v1',
  resource: 'leases',
  namespace,
})

/** Whether we hold the Lease now. */
async function acquire(candidate: LeaderOptions & { seen: Seen | undefined }): Promise<boolean> {
  const { client, namespace, identity } = candidate
  const lease = await read(client, leaseAt(namespace), LEASE)
  if (!lease) return create(candidate)
  const spec = (lease.spec ?? {}) as LeaseSpec
  const isOurs = spec.holderIdentity === identity
  if (!isOurs && !isFree(candidate, lease, spec)) return false
  const transitions = (spec.leaseTransitions ?? 0) + (isOurs ? 0 : 1)
  const claimed = { ...claim(identity, isOurs), leaseTransitions: transitions }
  return replace(client, namespace, lease, claimed)
}

function isFree(candidate: { seen: Seen | undefined }, { metadata }: KubeObject, spec: LeaseSpec) {
  const version = metadata.resourceVersion ?? ''
  if (candidate.seen?.version !== version) candidate.seen = { version, at: performance.now() }
  const unchangedForMs = performance.now() - candidate.seen.at
  return (
    !spec.holderIdentity || unchangedForMs > 1000 * (spec.leaseDurationSeconds ?? LEASE_SECONDS)
  )
}

// A MicroTime needs exactly six digits after the point.
const microTime = () => new Date().toISOString().replace('Z', '000Z')

const claim = (holderIdentity: string, isRenewal: boolean) => ({
  holderIdentity,
  leaseDurationSeconds: LEASE_SECONDS,
  renewTime: microTime(),
  ...(!isRenewal && { acquireTime: microTime() }),
})

// Created by an apply without force, under a manager of our own: of two candidates one gets a conflict,
// and the role needs no create that is not bound to this name.
async function create({ client, namespace, identity }: LeaderOptions): Promise<boolean> {
  return client
    .send(pathOf(leaseAt(namespace), LEASE), {
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      query: { fieldManager: identity },
      body: {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: LEASE, namespace },
        spec: claim(identity, false),
      },
    })
    .then(() => true, isLost)
}

async function replace(
  client: Client,
  namespace: string,
  lease: KubeObject,
  spec: object,
): Promise<boolean> {
  const body = { ...lease, spec: { ...(lease.spec as object), ...spec } }
  return client
    .send(pathOf(leaseAt(namespace), LEASE), { method: 'PUT', body })
    .then(() => true, isLost)
}

const isLost = (error: unknown): false => {
  if (isConflict(error)) return false
  throw error
}

async function release({ client, namespace, identity }: LeaderOptions): Promise<void> {
  const lease = await read(client, leaseAt(namespace), LEASE)
  const { holderIdentity } = (lease?.spec ?? {}) as LeaseSpec
  if (!lease || holderIdentity !== identity) return
  await replace(client, namespace, lease, {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    renewTime: microTime(),
  })
}
