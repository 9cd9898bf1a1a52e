import { RECONCILE_PAUSED } from '../../../shared/baseline/annotations.ts'
import type { Digest } from '../../../shared/baseline/asset-status.ts'
import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import { annotationOf, isMap, type KubeObject } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import type { AdmissionRequest } from '../../server/review.ts'
import type { Write } from '../decide/gathered.ts'
import { isContent } from '../decide/judge-content.ts'
import type { Judgement } from '../decide/verdict.ts'
import type { Contests, ObjectLabels, Ruling } from './contests.ts'

/** Who wrote, as far as the request says. */
export interface Writer {
  readonly username: string
  readonly fieldManager: string | undefined
}

/** A write that moves managed fields, and what was ruled on it. */
export interface Contest {
  readonly ruling: Ruling
  readonly drifts: readonly Drift[]
  readonly writer: Writer
  /** How long an episode lasts after its last contest, milliseconds. */
  readonly quietMs: number
  /** Whether the write was refused. */
  readonly isDenied: boolean
}

/** Rules on the judgement of a write as one of many; undefined where it contests nothing. */
export type RuleOn = (judged: Judgement, write: Write) => Omit<Contest, 'isDenied'> | undefined

/** The object as metrics name it. */
export function labelsOf({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): ObjectLabels {
  const { namespace = '', name } = metadata
  return { kind, namespace, name }
}

/** Creates what rules on the write of one request: a dry run gets the same answer, and leaves no trace. */
export function contestLimiter(
  contests: Contests,
  request: AdmissionRequest,
  digest: Digest,
  now: number,
): RuleOn {
  return (judged, { incoming, old }) => {
    // Whoever creates an object moves nothing, and one that is going away is let go.
    if (!old || incoming.metadata.deletionTimestamp) return undefined
    const object = labelsOf(incoming)
    const isLifted = isResumed(old, incoming) && judged.kind !== 'denied'
    if (isLifted && !request.dryRun) contests.forget(object)
    const drifts = movedIn(judged)
    const contested = {
      object,
      username: shortName(request.userInfo.username, digest),
      version: shortName(String(old.metadata.resourceVersion), digest),
      moves: drifts.map(({ pointer, found }) => ({ pointer, value: nameOfValue(found, digest) })),
    }
    const ruling = request.dryRun ? contests.foresee(contested, now) : contests.rule(contested, now)
    return ruling && { ruling, drifts, writer: writerOf(request), quietMs: contests.quietMs }
  }
}

const movedIn = (judged: Judgement): readonly Drift[] =>
  'drifts' in judged ? judged.drifts.filter(isContent) : []

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

const nameOfValue = (found: unknown, digest: Digest) =>
  found === undefined ? '' : shortName(canonicalJson(found), digest)

const NAME_LIMIT = 256

/** What stands for a text that is kept: a digest of a long one, so that it is short, however long a caller made it. */
export const shortName = (text: string, digest: Digest) =>
  text.length > NAME_LIMIT ? digest(text) : text
