import type { KubeObject } from '../../shared/engine/json/object.ts'
import { isAsWanted } from './registration-match.ts'
import { ownerUidOf } from './registration-owner.ts'

// Somebody who deletes a configuration breaks the glass on purpose; it stays away this long.
const BREAK_GLASS_MS = 10 * 60_000

/** What to do about one webhook configuration. */
export type RegistrationStep = 'none' | 'apply' | 'delete' | 'wait'

/** What one leader keeps for the next about one webhook configuration. */
export interface RegistrationMemory {
  /** The uid of the owner under which it was seen last, empty without one; undefined where it is not ours to miss. */
  readonly registered: string | undefined
  /** Since when it is away without our doing, epoch milliseconds. */
  readonly missingSince: number | undefined
}

export interface RegistrationView extends RegistrationMemory {
  readonly wanted: KubeObject | undefined
  readonly live: KubeObject | undefined
  /** The uid of the owner that there is now, empty where there never was one; undefined where it is gone. */
  readonly ownerUid: string | undefined
  readonly now: number
}

export interface RegistrationDecision extends RegistrationMemory {
  readonly step: RegistrationStep
}

/**
 * Decides: wanted and different is applied, unwanted is deleted, deleted by somebody else comes back later. What went
 * with its owner nobody deleted: it comes back with the next owner, at once.
 */
export function decideRegistration(view: RegistrationView): RegistrationDecision {
  const { wanted, live } = view
  if (!wanted) return live ? UNWANTED : GONE
  if (!live) return decideAbsent(view)
  const step = isAsWanted(live, wanted) ? 'none' : 'apply'
  return { step, registered: ownerUidOf(live), missingSince: undefined }
}

function decideAbsent(view: RegistrationView): RegistrationDecision {
  const { registered, missingSince, ownerUid, now } = view
  const isMissed = registered !== undefined && registered === ownerUid
  if (missingSince === undefined && !isMissed) return { ...FORGOTTEN, step: 'apply' }
  // Another leader’s clock may have been ahead, or ours was set back: nobody waits for that, too.
  const since = Math.min(missingSince ?? now, now)
  return { step: isBroken(since, now) ? 'wait' : 'apply', registered, missingSince: since }
}

const isBroken = (since: number, now: number) => now - since < BREAK_GLASS_MS
const FORGOTTEN: RegistrationMemory = { registered: undefined, missingSince: undefined }
const UNWANTED: RegistrationDecision = { ...FORGOTTEN, step: 'delete' }
const GONE: RegistrationDecision = { ...FORGOTTEN, step: 'none' }
