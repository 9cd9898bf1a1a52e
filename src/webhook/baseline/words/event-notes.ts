import { FIELD_MANAGER } from '../../../shared/baseline/annotations.ts'
import type { EventInput } from '../../../shared/cluster/events.ts'
import { cut, formatValue } from '../../../shared/engine/format-value.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import type { Contest, Writer } from '../contests/contest-limiter.ts'

const NAMED = 5
const NOTE_LIMIT = 1_000

/** The event that tells which fields somebody tried to move. */
export function preventedEvent(
  drifts: readonly Drift[],
  subject: KubeObject,
  username: string,
  isStored: boolean,
): EventInput {
  const more = drifts.length > NAMED ? ` and ${drifts.length - NAMED} more` : ''
  const end = isStored ? 'put back, the rest is stored' : 'refused, nothing is stored'
  const note = `the change of ${pointersIn(drifts)}${more} by ${username}: ${end}`
  return { subject, type: 'Normal', reason: 'DriftPrevented', note: cut(note, NOTE_LIMIT) }
}

/** The event that opens an episode; undefined where none begins. */
export function warEvent(
  { ruling, drifts, writer, isDenied, quietMs }: Contest,
  subject: KubeObject,
): EventInput | undefined {
  if (!('isNew' in ruling && ruling.isNew)) return undefined
  const note =
    ruling.kind === 'shared'
      ? `${drifts.slice(0, NAMED).map(showMove).join(', ')} by several users, the last of them ${showWriter(writer)}: probably another admission webhook or a client's default; ${FIELD_MANAGER} ${isDenied ? 'denies it to everybody, as it does all edits of this object' : 'puts it back each time and denies nobody'}`
      : `${showWriter(writer)} changes ${pointersIn(drifts)} again and again: denied until there was no such edit for ${minutes(quietMs)}`
  return { subject, type: 'Warning', reason: 'ThrashingDetected', note: cut(note, NOTE_LIMIT) }
}

/** What the denial of one edit too many says of its author. */
export const warRemark = ({ writer, quietMs }: Pick<Contest, 'writer' | 'quietMs'>) =>
  ` ${showWriter(writer)} edits managed fields of this object again and again: such edits are denied until there was none for ${minutes(quietMs)}.`

const pointersIn = (drifts: readonly Drift[]) =>
  drifts
    .slice(0, NAMED)
    .map(({ pointer }) => pointer)
    .join(', ')

const showMove = ({ pointer, found }: Drift) =>
  found === undefined
    ? `${pointer} is removed`
    : `${pointer} is set to ${formatValue(pointer, found)}`

const showWriter = ({ username, fieldManager }: Writer) =>
  fieldManager === undefined ? username : `${username} (field manager ${fieldManager})`

const minutes = (ms: number) => {
  const count = Math.max(1, Math.round(ms / 60_000))
  return count === 1 ? 'a minute' : `${count} minutes`
}
