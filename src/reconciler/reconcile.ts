import type { Asset } from '../shared/catalog/catalog.ts'
import { isCreatable, type Standing } from '../shared/catalog/standing.ts'
import { FIELD_MANAGER, MANAGED_BY } from '../shared/engine/annotations.ts'
import { canonicalJson } from '../shared/engine/canonical.ts'
import { isEqual } from '../shared/engine/equal.ts'
import { type Drift, drift } from '../shared/engine/merge.ts'
import type { FieldPath, MergeTree } from '../shared/engine/merge-tree.ts'
import type { KubeObject } from '../shared/engine/object.ts'
import { ownership, releaseOperations } from '../shared/engine/ownership.ts'
import { type Enforcement, plan } from '../shared/engine/plan.ts'
import type { Outcome } from './outcome.ts'

/** What reconciling one asset starts from. */
export interface Situation {
  readonly asset: Asset
  readonly standing: Standing
  readonly live: KubeObject | undefined
  readonly tree: MergeTree | undefined
  readonly isSensitive: boolean
  readonly isOff: boolean
  readonly isObserving: boolean
  readonly isNamespaceMissing: boolean
}

/** The writes and reads that reconciling needs, all on the asset's own object. */
export interface ObjectPort {
  readonly read: () => Promise<KubeObject | undefined>
  readonly apply: (object: KubeObject, options: { isDryRun: boolean }) => Promise<KubeObject>
  readonly patch: (operations: readonly object[]) => Promise<KubeObject>
}

export interface ReconcileDeps {
  readonly object: ObjectPort
  /** Whether a change that drains or reboots nodes may be made now. */
  readonly mayDisrupt: (desired: KubeObject) => 'yes' | 'Held' | 'PoolBusy'
  /** Remembers what the server has already said to be no difference. */
  readonly settled: Settled
}

/** Brings one object to its desired state: gather, decide, act. Throws only when the cluster does. */
export async function reconcile(situation: Situation, deps: ReconcileDeps): Promise<Outcome> {
  const obstacle = obstacleTo(situation)
  if (obstacle) return obstacle
  const { standing, tree } = situation
  if (standing.kind !== 'active' || !tree)
    throw new Error('an asset without obstacle is active and has a schema')
  const input = { baseline: standing.baseline, tree, isSensitive: situation.isSensitive }

  // A cache that lacks the object may be behind; one read by name decides whether to create it.
  const live = situation.live ?? (await deps.object.read())
  if (!live && !isCreatable(situation.asset)) return { kind: 'skipped', reason: 'Absent' }
  if (live?.metadata.deletionTimestamp) return { kind: 'skipped', reason: 'Deleting' }
  const decision = plan({ ...input, object: live })
  if (decision.kind === 'skip') return { kind: 'skipped', reason: decision.reason }
  if (decision.kind === 'hold') return { kind: 'held', problems: decision.problems }
  return enforce(situation, tree, live, decision, deps)
}

function obstacleTo({
  standing,
  live,
  isOff,
  isNamespaceMissing,
  tree,
}: Situation): Outcome | undefined {
  if (isOff) return { kind: 'skipped', reason: 'Off' }
  if (standing.kind === 'failed') return standing
  if (standing.kind === 'inactive') {
    const { message, isMissed } = standing
    if (isOurs(live)) return { kind: 'leftover', message }
    return { kind: 'skipped', reason: isMissed ? 'DependencyMissing' : 'Inactive', message }
  }
  if (isNamespaceMissing) {
    const message = `namespace ${standing.baseline.metadata.namespace} does not exist`
    return { kind: 'skipped', reason: 'NamespaceMissing', message }
  }
  if (!tree)
    return { kind: 'skipped', reason: 'Inactive', message: 'its schema is not published yet' }
  return undefined
}

const isOurs = (live: KubeObject | undefined) =>
  live?.metadata.labels?.[MANAGED_BY] === FIELD_MANAGER

interface Comparison {
  readonly live: KubeObject
  readonly drifts: readonly Drift[]
  /** Fields of ours that somebody else owns now. */
  readonly isDisowned: boolean
  /** Fields that we own and no longer have an opinion on. */
  readonly isOutgrown: boolean
}

const compare = (tree: MergeTree, live: KubeObject, desired: KubeObject): Comparison => {
  const { missing, extra } = ownership(tree, live, desired, FIELD_MANAGER)
  return {
    live,
    drifts: drift(tree, live, desired),
    isDisowned: missing.length > 0,
    isOutgrown: extra.length > 0,
  }
}

async function enforce(
  { asset, isObserving }: Situation,
  tree: MergeTree,
  stored: KubeObject | undefined,
  decision: Enforcement,
  deps: ReconcileDeps,
): Promise<Outcome> {
  const mayReboot = asset.disruption !== 'none'
  if (!stored) return create(decision, isObserving, mayReboot, deps)
  const live = isObserving ? stored : await release(stored, decision.released, deps.object)
  const found = compare(tree, live, decision.desired)
  const unchanged: Outcome = { kind: 'unchanged', plan: decision, hasReleased: live !== stored }
  if (found.drifts.length === 0 && (isObserving || !isOwnershipDue(found, deps))) return unchanged
  const isDisruption = mayReboot && found.drifts.length > 0
  const reason = obstacleToWriting(isObserving, isDisruption, decision.desired, deps)
  if (reason) {
    return { kind: 'pending', reason, plan: decision, drifts: found.drifts, isCreation: false }
  }
  if (found.drifts.length > 0 && deps.settled.has(decision.desired, live)) return unchanged
  return (await configure(found, decision, deps)) ?? unchanged
}

// Each write that the webhook corrects takes a field's ownership along: taken back once, it is left until the resync.
const isOwnershipDue = ({ live, isDisowned, isOutgrown }: Comparison, { settled }: ReconcileDeps) =>
  isOutgrown || (isDisowned && !settled.isClaimed(live))

async function create(
  decision: Enforcement,
  isObserving: boolean,
  mayReboot: boolean,
  deps: ReconcileDeps,
): Promise<Outcome> {
  const reason = obstacleToWriting(isObserving, mayReboot, decision.desired, deps)
  if (reason) return { kind: 'pending', reason, plan: decision, drifts: [], isCreation: true }
  const object = await deps.object.apply(decision.desired, { isDryRun: false })
  deps.settled.add(decision.desired, object)
  return { kind: 'created', plan: decision, object }
}

function obstacleToWriting(
  isObserving: boolean,
  isDisruption: boolean,
  desired: KubeObject,
  { mayDisrupt }: ReconcileDeps,
) {
  if (isObserving) return 'Observing'
  const permission = isDisruption ? mayDisrupt(desired) : 'yes'
  return permission === 'yes' ? undefined : permission
}

/** Applies desired where the server, too, sees a difference, or where only the ownership is not ours. */
async function configure(
  { live, drifts }: Comparison,
  decision: Enforcement,
  deps: ReconcileDeps,
): Promise<Outcome | undefined> {
  const { desired } = decision
  const sent = withPreconditions(desired, live)
  if (drifts.length > 0 && !(await differs(live, sent, deps))) {
    deps.settled.add(desired, live)
    return undefined
  }
  const object = await deps.object.apply(sent, { isDryRun: false })
  deps.settled.add(desired, object)
  deps.settled.claim(object)
  if (drifts.length === 0) return undefined
  return { kind: 'configured', plan: decision, object, drifts, isAdopted: !isOurs(live) }
}

// Leaving a field out of an apply deletes it where nobody else owns it; so ownership is given up first.
async function release(live: KubeObject, paths: readonly FieldPath[], object: ObjectPort) {
  const operations = releaseOperations(live, FIELD_MANAGER, paths)
  return operations ? object.patch(operations) : live
}

const withPreconditions = (desired: KubeObject, { metadata }: KubeObject): KubeObject => ({
  ...desired,
  metadata: {
    ...desired.metadata,
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
  },
})

async function differs(
  live: KubeObject,
  sent: KubeObject,
  { object }: ReconcileDeps,
): Promise<boolean> {
  const answer = await object.apply(sent, { isDryRun: true })
  return !isEqual(withoutServerFields(live), withoutServerFields(answer))
}

function withoutServerFields({ metadata, ...rest }: KubeObject) {
  const {
    managedFields: _fields,
    resourceVersion: _version,
    generation: _generation,
    ...kept
  } = metadata
  return { ...rest, metadata: kept }
}

const REMEMBERED = 1_000

/** Pairs of a desired and a stored state between which the server saw no difference, bounded in number. */
export class Settled {
  readonly #pairs = new Map<string, string>()
  readonly #claimed = new Set<string>()
  readonly #digest: (text: string) => string

  constructor(digest: (text: string) => string) {
    this.#digest = digest
  }

  has(desired: KubeObject, live: KubeObject): boolean {
    return this.#pairs.get(uidOf(live)) === this.#pair(desired, live)
  }

  add(desired: KubeObject, live: KubeObject): void {
    if (this.#pairs.size >= REMEMBERED) this.#pairs.clear()
    this.#pairs.set(uidOf(live), this.#pair(desired, live))
  }

  /** Whether an object's ownership was taken back since the last resync. */
  isClaimed(live: KubeObject): boolean {
    return this.#claimed.has(uidOf(live))
  }

  claim(live: KubeObject): void {
    this.#claimed.add(uidOf(live))
  }

  /** At a resync ownership may be taken back once more. */
  forgetClaims(): void {
    this.#claimed.clear()
  }

  #pair(desired: KubeObject, live: KubeObject): string {
    return this.#digest(canonicalJson([desired, projectionOf(live)]))
  }
}

// What others write to status and to their own managed fields changes nothing for us.
const projectionOf = ({ metadata, status: _status, ...rest }: KubeObject) => ({
  ...rest,
  labels: metadata.labels,
  annotations: metadata.annotations,
})

const uidOf = ({ metadata }: KubeObject) => metadata.uid ?? ''
