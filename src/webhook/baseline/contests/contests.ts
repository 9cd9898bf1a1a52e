import { type Bucket, type BucketSize, take } from '../../../shared/engine/throttle.ts'

/** When edits that move managed fields become a war; each a flag. */
export interface ContestLimits extends BucketSize {
  /** How long nobody may contest for a war to be over, milliseconds. */
  readonly quietMs: number
}

/** An object as metrics name it. */
export interface ObjectLabels {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** A write to one object, and what it moves away from desired: nothing, most of the time. */
export interface ContestedWrite {
  readonly object: ObjectLabels
  readonly username: string
  /** The resource version that the write replaces. */
  readonly version: string
  /** A name for each contested field with the value that it is moved to, short and equal for equal ones. */
  readonly moves: readonly Move[]
}

export interface Move {
  readonly pointer: string
  readonly value: string
}

/** What is to become of a contested write. */
export type Ruling = {
  /** The write is one that was ruled on a moment ago, come again. */
  readonly isRepeat?: boolean
} & (
  | { readonly kind: 'tolerated' }
  /** Too many of them: denied. `isNew` opens the episode. */
  | { readonly kind: 'refused'; readonly isNew: boolean }
  /** Several users move the field to the same value: most probably none of them knows. */
  | { readonly kind: 'shared'; readonly isNew: boolean }
)

interface Actor {
  bucket: Bucket | undefined
  last: { readonly moves: string; readonly at: number; readonly ruling: Ruling } | undefined
  /** Whether an episode is open for this actor. */
  isAtWar: boolean
  contestedAt: number
}

interface Claim {
  readonly users: Set<string>
  isTold: boolean
  at: number
}

/** The contests about one object; what was contested last is the last in each. */
interface ObjectContests {
  readonly object: ObjectLabels
  readonly actors: Map<string, Actor>
  readonly claims: Map<string, Claim>
  /** What was contested in the first call for a write, by its user and version. */
  readonly calls: Map<string, { readonly pointers: ReadonlySet<string>; readonly at: number }>
}

// One kubectl call reaches us several times: conflicts are retried and webhooks reinvoked.
const SAME_CALL_MS = 2_000
// Three who move the same field to the same value, none knowing of the others, are one tool between them and us.
const SHARED_BY = 3
// Bounded: at most so many users, values and calls per object; the oldest is dropped.
const MAX_KEPT = 64

/**
 * Tells an edit from an edit war, by a token bucket per object and user: the field manager is whatever
 * the client says. Objects are only ever the catalog's, so what is kept is bounded.
 */
export class Contests {
  readonly #limits: ContestLimits
  readonly #objects = new Map<string, ObjectContests>()

  constructor(limits: ContestLimits) {
    this.#limits = limits
  }

  get quietMs(): number {
    return this.#limits.quietMs
  }

  /** Rules on a write and keeps it; `undefined` for a write that contests nothing. Milliseconds of a clock that never goes back. */
  rule(write: ContestedWrite, now: number): Ruling | undefined {
    const contests = this.#about(write.object)
    this.#objects.set(keyOfObject(write.object), contests)
    return this.#ruleAt(contests, write, now)
  }

  /** What `rule` would say; nothing is kept. */
  foresee(write: ContestedWrite, now: number): Ruling | undefined {
    return this.#ruleAt(structuredClone(this.#about(write.object)), write, now)
  }

  /** Forgets everything about an object: whoever lifts its pause begins anew. */
  forget(object: ObjectLabels): void {
    this.#objects.delete(keyOfObject(object))
  }

  /** The objects with an open episode, and forgets what a quiet window has ended. */
  atWar(now: number): readonly ObjectLabels[] {
    const open: ObjectLabels[] = []
    for (const contests of this.#objects.values()) {
      this.#settle(contests, now)
      const { object, actors, claims } = contests
      if ([...actors.values()].some(({ isAtWar }) => isAtWar) || [...claims.values()].some(isTold))
        open.push(object)
    }
    return open
  }

  #about(object: ObjectLabels): ObjectContests {
    const known = this.#objects.get(keyOfObject(object))
    return known ?? { object, actors: new Map(), claims: new Map(), calls: new Map() }
  }

  #ruleAt(contests: ObjectContests, write: ContestedWrite, now: number): Ruling | undefined {
    // Most writes contest nothing, and pay for nothing but being known.
    if (write.moves.length > 0) this.#settle(contests, now)
    const moves = ownMoves(contests, write, now)
    if (moves.length === 0) return undefined
    const claims = moves.map((move) => claim(contests, move, write.username, now))
    const actor = actorOf(contests, write.username, now)
    if (claims.every(({ users }) => users.size >= SHARED_BY)) {
      // Nobody's war any more, not even of whoever was denied before the others came.
      actor.isAtWar = false
      const isNew = !claims.every(isTold)
      for (const shared of claims) shared.isTold = true
      return { kind: 'shared', isNew }
    }
    return this.#count(actor, moves.map(keyOf).join(), now)
  }

  #count(actor: Actor, moves: string, now: number): Ruling {
    const { last } = actor
    if (last?.moves === moves && now - last.at < SAME_CALL_MS)
      return { ...last.ruling, isRepeat: true }
    const left = actor.isAtWar ? 'empty' : take(actor.bucket, this.#limits, now)
    if (left !== 'empty') actor.bucket = left
    const isNew = left === 'empty' && !actor.isAtWar
    actor.isAtWar = left === 'empty'
    const ruling: Ruling = actor.isAtWar ? { kind: 'refused', isNew: false } : { kind: 'tolerated' }
    actor.last = { moves, at: now, ruling }
    return isNew ? { kind: 'refused', isNew } : ruling
  }

  /** Ends what was quiet long enough. */
  #settle({ actors, claims }: ObjectContests, now: number): void {
    const isOver = (at: number) => now - at >= this.#limits.quietMs
    dropOldest(actors, ({ contestedAt }) => isOver(contestedAt))
    dropOldest(claims, ({ at }) => isOver(at))
  }
}

/** Drops the oldest while they are over: none behind one that is not can be. */
function dropOldest<Kept>(kept: Map<string, Kept>, isOver: (one: Kept) => boolean): void {
  for (const [key, oldest] of kept) {
    if (!isOver(oldest)) return
    kept.delete(key)
  }
}

/** Keeps something as the last, and forgets the first of too many. */
function keep<Kept>(kept: Map<string, Kept>, key: string, one: Kept): Kept {
  kept.delete(key)
  kept.set(key, one)
  dropOldest(kept, () => kept.size > MAX_KEPT)
  return one
}

const keyOfObject = ({ kind, namespace, name }: ObjectLabels) => `${kind}/${namespace}/${name}`

/** The moves that are the writer's own: what this very write did not bring with it when we first saw it, another webhook did. */
function ownMoves(
  { calls, actors }: ObjectContests,
  write: ContestedWrite,
  now: number,
): readonly Move[] {
  // Whoever is at war is given no benefit of a doubt.
  if (actors.get(write.username)?.isAtWar) return write.moves
  const key = JSON.stringify([write.username, write.version])
  const first = calls.get(key)
  if (first && now - first.at < SAME_CALL_MS)
    return write.moves.filter(({ pointer }) => first.pointers.has(pointer))
  keep(calls, key, { pointers: new Set(write.moves.map(({ pointer }) => pointer)), at: now })
  return write.moves
}

function actorOf({ actors }: ObjectContests, username: string, now: number): Actor {
  const known = actors.get(username) ?? { bucket: undefined, last: undefined, isAtWar: false }
  return keep(actors, username, Object.assign(known, { contestedAt: now }))
}

function claim({ claims }: ObjectContests, move: Move, username: string, now: number): Claim {
  const known = claims.get(keyOf(move)) ?? { users: new Set<string>(), isTold: false }
  if (known.users.size < SHARED_BY) known.users.add(username)
  return keep(claims, keyOf(move), Object.assign(known, { at: now }))
}

const isTold = (claim: Claim) => claim.isTold
const keyOf = ({ pointer, value }: Move) => `${pointer}=${value}`
