import type { Settings } from '../../../shared/baseline/settings/settings.ts'
import { isMap } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import { sentenceOf } from '../../../shared/engine/problem.ts'
import type { Contest, RuleOn } from '../contests/contest-limiter.ts'
import type { Gathered } from './gathered.ts'
import { judgeAnnotations } from './judge-annotations.ts'
import { comparable, isContent, judgeContent } from './judge-content.ts'
import { rebootsBy } from './reboots.ts'
import { type Remedy, remedyFor, writtenIn } from './remedy.ts'
import {
  type Allowed,
  allow,
  type Corrected,
  type Denied,
  type Effects,
  type Judgement,
  type Target,
  type Verdict,
} from './verdict.ts'

/** Decides on a create or an update, where the object can still be changed. `ruleOn` says whether there were too many such writes. */
export function decide(gathered: Gathered, ruleOn: RuleOn): Verdict {
  const judged = judge(gathered)
  const ruled = ruleOn(judged, comparable(gathered.write))
  if (!ruled) return told(judged, gathered, undefined)
  const isRefused = ruled.ruling.kind === 'refused' && 'drifts' in judged
  const final = isRefused ? deny('Thrashing', judged.drifts, judged.target) : judged
  return told(final, gathered, { ...ruled, isDenied: final.kind === 'denied' })
}

/** Decides on it where it is seen last: whoever came after the correction, a judged field must have its value. */
export function decideFinally(gathered: Gathered): Verdict {
  const judged = judge(gathered)
  if (judged.kind === 'denied') return told(judged, gathered, undefined)
  const isDying = gathered.write.incoming.metadata.deletionTimestamp
  if (judged.kind === 'corrected' && !isDying)
    return told(deny('NotCorrected', judged.putBack, judged.target), gathered, undefined)
  return { ...allow(judged.reason, []), ...NO_EFFECTS }
}

const deny = (reason: Denied['reason'], drifts: readonly Drift[], target: Target): Denied => ({
  kind: 'denied',
  reason,
  drifts,
  target,
})

/** Judges the write, not the object. */
function judge(gathered: Gathered): Judgement {
  const { settings, fault, notes } = judgeAnnotations(gathered)
  const { managed, snapshot } = gathered
  // Without a HyperConverged everything else is anybody's.
  const isOrphan = !managed.isHco && !snapshot.hasHyperConverged
  const idle = isOrphan ? 'NoHyperConverged' : IDLE[settings.activation.kind]
  if (idle) return allow(idle, [...(fault?.problems ?? []).map(sentenceOf), ...notes])
  return fault ? { kind: 'denied', ...fault } : judgeContent(gathered, settings, notes)
}

// Off denies nothing, and observing reports what would be denied.
const IDLE: Readonly<Partial<Record<Settings['activation']['kind'], string>>> = {
  off: 'Off',
  observe: 'Observing',
}

/** The verdict with all that is told of it: what it leads to, and how its author may have it his way. */
function told(judged: Judgement, gathered: Gathered, contest: Contest | undefined): Verdict {
  if (judged.kind === 'allowed')
    return { ...judged, contest, ...effectsOfAllowed(judged, gathered) }
  if (judged.kind === 'corrected') {
    const reboots = rebootsBy(gathered, judged.corrected)
    const remedy = remedyIn(judged, gathered, false)
    return { ...judged, contest, isOwned: false, reboots, remedy }
  }
  if (!('drifts' in judged)) return { ...judged, contest }
  return { ...judged, contest, remedy: remedyIn(judged, gathered, true) }
}

const NO_EFFECTS: Effects = { isOwned: false, reboots: [] }

function effectsOfAllowed({ reason }: Allowed, gathered: Gathered): Effects {
  const isOwned = reason === 'InSync' && isGivenAnOwner(gathered)
  // What the HyperConverged asks for of others is in force even where it is nobody's but its owner's.
  const isInForce = gathered.managed.isHco || reason === 'InSync' || reason === 'Pending'
  return isInForce || isOwned
    ? { isOwned, reboots: isInForce ? rebootsBy(gathered, gathered.write.incoming) : [] }
    : NO_EFFECTS
}

/** Whether the write gives an owner to an object that nobody may delete: with that it goes, and the garbage collector is never refused. */
function isGivenAnOwner({ write: { incoming, old }, managed }: Gathered): boolean {
  if (!managed.isAlwaysDenied || managed.status.kind !== 'active') return false
  const before = new Set(ownersOf(old?.metadata))
  return ownersOf(incoming.metadata).some((uid) => !before.has(uid))
}

const ownersOf = (metadata: unknown): readonly unknown[] => {
  const owners = isMap(metadata) && metadata.ownerReferences
  return Array.isArray(owners) ? owners.map((owner) => isMap(owner) && owner.uid) : []
}

/** How its author may have what he wrote; undefined where the write moved nothing but our label. */
function remedyIn(
  { drifts, target }: Corrected | Denied,
  { write, managed }: Gathered,
  areBothTold: boolean,
): Remedy | undefined {
  const { isSensitive, defaults } = managed
  const content = drifts.filter(isContent)
  if (content.length === 0) return undefined
  const written = writtenIn(drifts, defaults).filter(isContent)
  const edit = { ...target, object: write.incoming, drifts: written, isSensitive }
  // What is created has nothing that could stay.
  const isPartial = write.old !== undefined && written.length < content.length
  return { ...remedyFor(edit, areBothTold), isPartial }
}
