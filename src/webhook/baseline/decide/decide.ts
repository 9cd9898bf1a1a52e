import type { Settings } from '../../../shared/baseline/settings/settings.ts'
import { isMap, type KubeObject } from '../../../shared/engine/json/object.ts'
import { sentenceOf } from '../../../shared/engine/problem.ts'
import type { Contest, RuleOn } from '../contests/contest-limiter.ts'
import type { Gathered } from './gathered.ts'
import { judgeAnnotations } from './judge-annotations.ts'
import { comparable, isContent, judgeContent } from './judge-content.ts'
import { quotasLost } from './quotas.ts'
import { rebootsBy } from './reboots.ts'
import { remedyFor, writtenIn } from './remedy.ts'
import { type Allowed, allow, deny, type Judgement, type Told, type Verdict } from './verdict.ts'

/** Decides on a create or an update, where the object can still be changed. `ruleOn` says whether there were too many such writes. */
export function decide(gathered: Gathered, ruleOn: RuleOn): Verdict {
  const judged = judge(gathered)
  const ruled = ruleOn(judged, comparable(gathered.write))
  const isRefused = ruled?.ruling.kind === 'refused' && 'drifts' in judged
  const final = isRefused ? deny('Thrashing', judged.drifts, judged.target) : judged
  return told(final, gathered, ruled && { ...ruled, isDenied: final.kind === 'denied' })
}

/** Decides on it where it is seen last: whoever came after the correction, a judged field must have its value. */
export function decideFinally(gathered: Gathered): Verdict {
  const judged = judge(gathered)
  if (judged.kind === 'denied') return told(judged, gathered, undefined)
  const isDying = gathered.write.incoming.metadata.deletionTimestamp
  if (judged.kind === 'allowed' || isDying) return allow(judged.reason, [])
  return told(deny('NotCorrected', judged.putBack, judged.target), gathered, undefined)
}

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
  if (judged.kind === 'allowed') return { ...judged, contest, ...effectsOf(judged, gathered) }
  if (!('drifts' in judged)) return { ...judged, contest }
  const { write, managed } = gathered
  const { isSensitive, defaults, values } = managed
  // For our label there is no other way.
  const content = judged.drifts.filter(isContent)
  const drifts = writtenIn(judged.drifts, defaults).filter(isContent)
  const edit = { ...judged.target, object: write.incoming, drifts, isSensitive, values }
  // What is created has nothing that could stay.
  const isPartial = write.old !== undefined && drifts.length < content.length
  const remedy =
    content.length > 0 ? { ...remedyFor(edit, judged.kind === 'denied'), isPartial } : undefined
  if (judged.kind !== 'corrected') return { ...judged, contest, remedy }
  const reboots = rebootsBy(gathered, judged.corrected)
  return { ...judged, contest, remedy, reboots, quotas: quotasLost(gathered) }
}

function effectsOf({ reason }: Allowed, gathered: Gathered): Told {
  const { managed, write } = gathered
  // What the HyperConverged asks for of others is in force even where it is nobody's but its owner's.
  const isInForce = managed.isHco || reason === 'InSync' || reason === 'Pending'
  return {
    isOwned: reason === 'InSync' && isGivenAnOwner(gathered),
    reboots: isInForce ? rebootsBy(gathered, write.incoming) : [],
    quotas: LEFT_ALONE.includes(reason) ? undefined : quotasLost(gathered),
  }
}

// What of the HyperConverged is nobody's but its owner's with this write.
const LEFT_ALONE = [...Object.values(IDLE), 'Inactive']

/** Whether the write gives an owner to an object that nobody may delete: with that it goes, and the garbage collector is never refused. */
function isGivenAnOwner({ write: { incoming, old }, managed }: Gathered): boolean {
  if (!managed.isAlwaysDenied || managed.status.kind !== 'active') return false
  const before = ownersOf(old)
  return ownersOf(incoming).some((uid) => !before.includes(uid))
}

function ownersOf(object: KubeObject | undefined): readonly unknown[] {
  const owners = object?.metadata.ownerReferences
  return Array.isArray(owners) ? owners.map((owner) => isMap(owner) && owner.uid) : []
}
