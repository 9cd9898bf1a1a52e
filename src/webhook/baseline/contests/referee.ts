import { FIELD_MANAGER, RECONCILE_PAUSED } from '../../../shared/baseline/annotations.ts'
import type { Digest } from '../../../shared/baseline/asset-status.ts'
import type { EventInput } from '../../../shared/cluster/events.ts'
import { cut, formatValue } from '../../../shared/engine/format-value.ts'
import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import { annotationOf, isMap, type KubeObject } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import type { AdmissionRequest } from '../../server/review.ts'
import type { Write } from '../verdict/judge-annotations.ts'
import { isContent } from '../verdict/judge-content.ts'
import type { Denied, Verdict } from '../verdict/verdict.ts'
import type { Battlefield, ContestedWrite, Contests, Ruling } from './contests.ts'

/** Who wrote, as far as the request says. */
export interface Writer {
  readonly username: string
  readonly fieldManager: string | undefined
}

/** A ruling on a write, and what it was about. */
export interface War {
  readonly ruling: Ruling
  readonly drifts: readonly Drift[]
  readonly writer: Writer
  /** Whether the write was refused. */
  readonly isDenied: boolean
}

export interface Refereed {
  readonly verdict: Verdict
  readonly war?: War
}

/** Looks at the verdict on a write as one of many. */
export type Referee = (verdict: Verdict, write: Write) => Refereed

/** The object that a war is about. */
export const battlefieldOf = ({
  kind,
  metadata: { namespace = '', name },
}: KubeObject): Battlefield => ({ kind, namespace, name })

/** Creates the referee of one request: a dry run gets the same answer, and leaves no trace. */
export function createReferee(
  contests: Contests,
  request: AdmissionRequest,
  digest: Digest,
  now: number,
): Referee {
  const writer = writerOf(request)
  const ask = (write: ContestedWrite) =>
    request.dryRun ? contests.foresee(write, now) : contests.rule(write, now)
  return (verdict, { incoming, old }) => {
    // Whoever creates an object moves nothing, and one that is going away is let go.
    if (!old || incoming.metadata.deletionTimestamp) return { verdict }
    const object = battlefieldOf(incoming)
    const isLifted = isResumed(old, incoming) && verdict.kind !== 'denied'
    if (isLifted && !request.dryRun) contests.forget(object)
    const drifts = contested(verdict)
    const ruling = ask({
      object,
      username: shortName(writer.username, digest),
      version: shortName(String(old.metadata.resourceVersion), digest),
      moves: drifts.map(({ pointer, found }) => ({ pointer, value: nameOfValue(found, digest) })),
    })
    return ruling ? sentenced(verdict, { ruling, drifts, writer }) : { verdict }
  }
}

const writerOf = ({ userInfo, options }: AdmissionRequest): Writer => {
  const manager = isMap(options) ? options.fieldManager : undefined
  return {
    username: userInfo.username,
    fieldManager: typeof manager === 'string' && manager !== '' ? manager : undefined,
  }
}

const isResumed = (old: KubeObject, incoming: KubeObject) =>
  annotationOf(old, RECONCILE_PAUSED) !== undefined &&
  annotationOf(incoming, RECONCILE_PAUSED) === undefined

const contested = (verdict: Verdict): readonly Drift[] =>
  'drifts' in verdict ? verdict.drifts.filter(isContent) : []

const nameOfValue = (found: unknown, digest: Digest) =>
  found === undefined ? '' : shortName(canonicalJson(found), digest)

// What is remembered for an hour is short, however long a caller made it.
const NAME_LIMIT = 256
const shortName = (text: string, digest: Digest) => (text.length > NAME_LIMIT ? digest(text) : text)

function sentenced(verdict: Verdict, war: Omit<War, 'isDenied'>): Refereed {
  const isRefused = war.ruling.kind === 'refused' && 'drifts' in verdict
  const denial = isRefused ? denialOf(verdict) : verdict
  return { verdict: denial, war: { ...war, isDenied: denial.kind === 'denied' } }
}

const denialOf = ({ drifts, target }: Pick<Denied, 'drifts' | 'target'>): Denied => ({
  kind: 'denied',
  reason: 'Thrashing',
  drifts,
  target,
})

/** Who it is, as messages name them. */
export const nameOf = ({ username, fieldManager }: Writer) =>
  fieldManager === undefined ? username : `${username} (field manager ${fieldManager})`

/** The event that opens an episode; undefined where none begins. */
export function warEvent(
  { ruling, drifts, writer, isDenied }: War,
  subject: KubeObject,
  quietMs: number,
): EventInput | undefined {
  if (!('isNew' in ruling && ruling.isNew)) return undefined
  const pointers = drifts.slice(0, 5).map(({ pointer }) => pointer)
  const note =
    ruling.kind === 'shared'
      ? `${drifts.slice(0, 5).map(moveOf).join(', ')} by several users, the last of them ${nameOf(writer)}: probably another admission webhook or a client's default; ${FIELD_MANAGER} ${isDenied ? 'denies it to everybody, as it does all edits of this object' : 'puts it back each time and denies nobody'}`
      : `${nameOf(writer)} changes ${pointers.join(', ')} again and again: denied until there was no such edit for ${minutes(quietMs)}`
  return { subject, type: 'Warning', reason: 'ThrashingDetected', note: cut(note, 1_000) }
}

const moveOf = ({ pointer, found }: Drift) =>
  found === undefined
    ? `${pointer} is removed`
    : `${pointer} is set to ${formatValue(pointer, found)}`

/** What the denial of one edit too many says of its author. */
export const warRemark = ({ writer }: War, quietMs: number) =>
  ` ${nameOf(writer)} edits managed fields of this object again and again: such edits are denied until there was none for ${minutes(quietMs)}.`

const minutes = (ms: number) => {
  const count = Math.max(1, Math.round(ms / 60_000))
  return count === 1 ? 'a minute' : `${count} minutes`
}
