import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, isConflict, isNotFound } from '../../shared/cluster/client.ts'
import { apply, microTime, pathOf, read } from '../../shared/cluster/resource.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'

export interface ElectionOptions {
  readonly client: Client
  /** Where the Lease is, and what it is called. */
  readonly namespace: string
  readonly lease: string
  /** What no other process calls itself. */
  readonly holder: string
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
  /**
   * Whether we hold the Lease and renewed it recently enough for nobody else to have taken it. Ask before every
   * write; a loss that shows only then, as it does to a process that was frozen, is told before the answer.
   */
  readonly isLeader: () => boolean
  /** Takes part until the signal aborts, then releases the Lease. */
  readonly run: () => Promise<void>
}

/**
 * One leader by a Lease. Another holder's clock is never trusted: its Lease is free once we have seen
 * it unchanged for its whole duration, and ours is lost when we could not renew it in time, frozen
 * processes included. See https://kubernetes.io/docs/concepts/architecture/leases/#leader-election
 */
export function createElection(options: ElectionOptions): Election {
  const { signal, onElected, onLost, onTrouble } = options
  let seen = { version: '', at: Number.POSITIVE_INFINITY }
  let renewedAt = Number.NEGATIVE_INFINITY
  let wasLeader = false
  let isInTrouble = false
  const isRenewed = () => performance.now() - renewedAt < RENEW_DEADLINE_MS

  /** For how many milliseconds a version is known, by a clock that nobody sets. */
  const ageOf = (version: string) => {
    const now = performance.now()
    if (seen.version !== version) seen = { version, at: now }
    return now - seen.at
  }
  const tellLoss = (reason: string) => {
    wasLeader = false
    onLost(reason)
  }
  const isLeader = () => {
    const isStillOurs = isRenewed()
    if (!isStillOurs && wasLeader) tellLoss(LATE)
    return isStillOurs
  }
  const tellTrouble = (error: Error) => {
    if (!isInTrouble) onTrouble(error)
    isInTrouble = true
  }
  const attempt = async () => {
    const attemptedAt = performance.now()
    // An attempt that hangs must leave time for another, and not be answered in the middle of that one.
    const deadline = AbortSignal.timeout(ATTEMPT_MS)
    try {
      const isHeld = await acquire({ ...options, signal: deadline }, ageOf)
      // What we did not do while we were late is as lost as if another had led.
      if (isHeld) isLeader()
      renewedAt = isHeld ? attemptedAt : Number.NEGATIVE_INFINITY
      isInTrouble = false
    } catch (error) {
      tellTrouble(deadline.aborted ? noAnswer(error) : (error as Error))
    }
  }
  const tellChange = () => {
    if (isRenewed() === wasLeader) return
    if (wasLeader) return tellLoss(isInTrouble ? LATE : 'another process holds it')
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
      const releasing = { ...options, signal: AbortSignal.timeout(ATTEMPT_MS) }
      if (isRenewed()) await release(releasing).catch(onTrouble)
      renewedAt = Number.NEGATIVE_INFINITY
    },
  }
}

const LATE = 'it could not be renewed in time'

const noAnswer = (cause: unknown) => new Error(`no answer within ${ATTEMPT_MS} ms`, { cause })

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly leaseTransitions?: number
  readonly renewTime?: string
  readonly acquireTime?: string
}

/** What a candidate does about the Lease. */
export type LeaseStep = 'create' | 'renew' | 'take' | 'wait'

/** Decides by the Lease, and for how long we have seen it unchanged: another's is free once released, or not renewed for its duration. */
export function decideLease(
  lease: KubeObject | undefined,
  holder: string,
  unchangedMs: number,
): LeaseStep {
  if (!lease) return 'create'
  const { holderIdentity, leaseDurationSeconds = LEASE_SECONDS } = specOf(lease)
  if (holderIdentity === holder) return 'renew'
  return !holderIdentity || unchangedMs > 1000 * leaseDurationSeconds ? 'take' : 'wait'
}

const specOf = ({ spec }: KubeObject) => (spec ?? {}) as LeaseSpec

const leasesIn = (namespace: string) => ({
  apiVersion: 'coordination.k8s.io/v1',
  resource: 'leases',
  namespace,
})

// Written between our reading and our writing: by another, or by an earlier attempt of ours that hung.
const CONFLICTS_AT_ONCE = 3

/** Whether we hold the Lease now. */
async function acquire(
  options: ElectionOptions,
  ageOf: (version: string) => number,
): Promise<boolean> {
  const { holder } = options
  for (let conflicts = 0; conflicts < CONFLICTS_AT_ONCE; conflicts++) {
    const lease = await readLease(options)
    const step = decideLease(lease, holder, ageOf(lease?.metadata.resourceVersion ?? ''))
    if (step === 'wait') return false
    const write = lease ? replace(options, lease, claim(holder, lease, step)) : create(options)
    if (await isMade(write)) return true
  }
  return false
}

/** Whether a write was made; false where somebody else was faster. */
const isMade = (write: Promise<unknown>): Promise<boolean> =>
  write.then(
    () => true,
    (error: unknown) => {
      if (isConflict(error)) return false
      throw error
    },
  )

const readLease = ({ client, namespace, lease, signal }: ElectionOptions) =>
  read(client, leasesIn(namespace), lease, signal)

/** The spec by which we hold a Lease that we create, renew, or take. */
function claim(holderIdentity: string, lease: KubeObject | undefined, step: LeaseStep): LeaseSpec {
  const renewTime = microTime()
  const { leaseTransitions = 0 } = lease ? specOf(lease) : {}
  return {
    holderIdentity,
    leaseDurationSeconds: LEASE_SECONDS,
    renewTime,
    ...(step !== 'renew' && { acquireTime: renewTime }),
    ...(lease && { leaseTransitions: leaseTransitions + (step === 'take' ? 1 : 0) }),
  }
}

// Created by an apply without force, under a manager of our own: of two candidates one gets a conflict,
// and the role needs no create that is not bound to this name.
function create({ client, namespace, lease, holder, signal }: ElectionOptions) {
  const wanted = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: lease, namespace },
    spec: claim(holder, undefined, 'create'),
  }
  return apply(client, leasesIn(namespace), wanted, { force: false, fieldManager: holder, signal })
}

function replace(
  { client, namespace, signal }: ElectionOptions,
  lease: KubeObject,
  spec: LeaseSpec,
) {
  const body = { ...lease, spec: { ...specOf(lease), ...spec } }
  const path = pathOf(leasesIn(namespace), lease.metadata.name)
  return client.send(path, { method: 'PUT', body, signal })
}

// Long enough for whatever ends the processes after it, and no burden to who installs them anew.
const STAND_DOWN_SECONDS = 120
const NOBODY = 'nobody-leads'

export type StandDown = Pick<ElectionOptions, 'client' | 'namespace' | 'lease'>

/** Has nobody lead for two minutes: takes the Lease, and waits until who held it has noticed. */
export async function standDown({ client, namespace, lease }: StandDown): Promise<void> {
  const at = leasesIn(namespace)
  const before = await read(client, at, lease)
  const renewTime = microTime()
  const taken = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: lease, namespace },
    spec: {
      holderIdentity: NOBODY,
      leaseDurationSeconds: STAND_DOWN_SECONDS,
      acquireTime: renewTime,
      renewTime,
    },
  }
  try {
    await apply(client, at, taken, { fieldManager: NOBODY })
  } catch (error) {
    // Without the namespace there is no Lease to hold.
    if (isNotFound(error)) return
    throw error
  }
  const { holderIdentity = '' } = before ? specOf(before) : {}
  if (!['', NOBODY].includes(holderIdentity)) await sleep(RENEW_DEADLINE_MS)
}

async function release(options: ElectionOptions): Promise<void> {
  const lease = await readLease(options)
  if (!lease || specOf(lease).holderIdentity !== options.holder) return
  const released = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() }
  await isMade(replace(options, lease, released))
}
