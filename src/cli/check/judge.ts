import { PREFIX } from '../../shared/baseline/annotations.ts'
import type { AssetStatus } from '../../shared/baseline/asset-status.ts'
import { type Asset, kindKey, namespaceOf } from '../../shared/baseline/catalog/catalog.ts'
import { areOptInsHeld } from '../../shared/baseline/facts/conditions.ts'
import { cut, escapeControls, formatValue } from '../../shared/engine/format-value.ts'
import { canonicalJson } from '../../shared/engine/json/canonical.ts'
import {
  groupOf,
  isMap,
  type KubeObject,
  mapMembers,
  titleOf,
} from '../../shared/engine/json/object.ts'
import { merge } from '../../shared/engine/merge/merge.ts'
import { decide } from '../../webhook/baseline/decide/decide.ts'
import type { DecideOptions } from '../../webhook/baseline/decide/gathered.ts'
import { answerTo } from '../../webhook/baseline/handlers.ts'
import type { ManagedObject, Snapshot } from '../../webhook/baseline/snapshot.ts'
import type { Answer } from '../../webhook/baseline/words/answer.ts'
import { readReview } from '../../webhook/server/read-review.ts'
import type { AdmissionRequest } from '../../webhook/server/review.ts'
import { titleOfFile } from '../read-objects.ts'
import type { Fault, Manifest } from './manifests.ts'

/** What the webhook says to one manifest of an object of ours; or a file of which that cannot be told. */
export interface Finding {
  readonly file: string
  readonly line: number
  /** The object and its asset; absent where the file cannot be read. */
  readonly object?: string
  readonly asset?: string
  /** `unknown`: it cannot be told from what is known here. */
  readonly verdict: 'allowed' | 'corrected' | 'denied' | 'unknown'
  readonly reason: string
  /** What whoever applies it is told: the warnings, or why it is denied, with the way out. */
  readonly messages: readonly string[]
}

export interface JudgeOptions extends DecideOptions {
  readonly snapshot: Snapshot
  /** The object as it is stored; undefined where there is none. */
  readonly stored: KubeObject | undefined
  /** Which of it nobody has stated, so that it is made up. */
  readonly assumed: Assumed
}

/** What of a cluster that is not asked may be made up: its HyperConverged, and whatever else facts are read from. */
export interface Assumed {
  readonly hco: boolean
  readonly others: boolean
}

/** The object that a manifest is of, if it is one of ours. Whoever applies a manifest without a namespace says which he means. */
export function managedFor(
  { apiVersion, kind, metadata }: KubeObject,
  { all, facts }: Snapshot,
): ManagedObject | undefined {
  const wanted = kindKey({ group: groupOf(apiVersion), kind })
  return all.find(({ asset }) => {
    const { object } = asset
    if (kindKey(object) !== wanted || object.name !== metadata.name) return false
    const { namespace } = metadata
    return namespace === undefined || namespace === namespaceOf(asset, facts.hco.namespace)
  })
}

/** Judges a manifest as the webhook would its forced server-side apply over the object as it is stored. Pure. Throws what names the place. */
export function judge(
  { file, line, object }: Manifest,
  managed: ManagedObject,
  options: JudgeOptions,
): Finding {
  const { snapshot, stored: old, enforcement, digest } = options
  const { asset, tree } = managed
  const namespace = namespaceOf(asset, snapshot.facts.hco.namespace)
  const metadata = { ...object.metadata, ...(namespace && { namespace }) }
  const stated = { ...object, metadata: withoutNulls(metadata) }
  const place = { file, line, object: titleOf(stated), asset: asset.name }
  const mistake = mistakeIn(stated.metadata)
  if (mistake !== undefined)
    return { ...place, verdict: 'denied', reason: 'Invalid', messages: [mistake] }
  const incoming = old && tree ? merge(tree, old, stated) : stated
  const deps = { snapshot: () => snapshot, catalog: [asset], enforcement, digest }
  // A check is no attempt: nothing counts as one of an edit war.
  const answer = namingPlace({ file, line }, () =>
    answerTo(requestFor(incoming, old), deps, (gathered) => decide(gathered, () => undefined)),
  )
  return { ...place, ...verdictIn(answer, { ...options, managed, stated }) }
}

/** What is told of a file that cannot be read: objects of ours may be in it. Whatever it is named, that is one line. */
export const findingOn = ({ file, line, message }: Fault): Finding => ({
  file,
  line,
  verdict: 'unknown',
  reason: 'Unreadable',
  messages: [escapeControls(message)],
})

const TEXTS = ['labels', 'annotations'] as const

/** The API server reads null as an empty text: a key of a template whose value is empty. */
function withoutNulls(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  const maps = TEXTS.flatMap((field) => {
    const texts: unknown = metadata[field]
    return isMap(texts) ? [[field, mapMembers(texts, (text) => text ?? '')]] : []
  })
  return { ...metadata, ...Object.fromEntries(maps) }
}

// Longer ones are not stored.
const LONGEST_KEY = 317

/** What is refused before any webhook is asked: YAML takes a plain `true` for no text. */
function mistakeIn(metadata: KubeObject['metadata']): string | undefined {
  for (const field of TEXTS) {
    const texts: unknown = metadata[field] ?? {}
    if (!isMap(texts))
      return `metadata.${field} is no map: the API server refuses it; write \`key: "text"\` lines`
    for (const [key, value] of Object.entries(texts))
      if (typeof value !== 'string')
        return `metadata.${field}[${cut(key, LONGEST_KEY)}] is ${formatValue(key, value)}, which is no text: the API server refuses it; put it in quotes`
  }
  return undefined
}

function namingPlace<Value>({ file, line }: Omit<Manifest, 'object'>, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    throw new Error(`${titleOfFile(file)}:${line}: ${(error as Error).message}`, { cause: error })
  }
}

/** The request as the webhook would read it, with its own limits on what can be judged. */
function requestFor(object: KubeObject, oldObject: KubeObject | undefined): AdmissionRequest {
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  const request: AdmissionRequest = {
    uid: 'check',
    operation: oldObject ? 'UPDATE' : 'CREATE',
    kind: { group: groupOf(apiVersion), version: apiVersion.split('/').at(-1) ?? '', kind },
    name,
    ...(namespace !== undefined && { namespace }),
    dryRun: true,
    userInfo: { username: 'check' },
    object,
    ...(oldObject && { oldObject }),
  }
  // The API server writes the members of a map in order, and so do messages that show one.
  const review = Buffer.from(canonicalJson({ request }))
  return (readReview(review, PREFIX) as { readonly request: AdmissionRequest }).request
}

type Told = Pick<Finding, 'verdict' | 'reason' | 'messages'>

interface Judged extends Pick<JudgeOptions, 'snapshot' | 'assumed'> {
  readonly managed: ManagedObject
  readonly stated: KubeObject
}

function verdictIn(answer: Answer | undefined, judged: Judged): Told {
  if (!answer) return { verdict: 'unknown', reason: 'NotJudged', messages: [] }
  const { verdict, reason, response } = answer
  const why = UNTOLD[reason]?.(judged)
  if (why !== undefined) return { verdict: 'unknown', reason, messages: [why] }
  const { status, warnings = [] } = response
  const messages = status ? [status.message] : [...warnings, ...whyInactive(reason, judged)]
  // What its own override asks for is put beside what the manifest says, and contradicts none of it.
  const isAsAsked = verdict === 'corrected' && reason === 'Override'
  return { verdict: isAsAsked ? 'allowed' : verdict, reason, messages }
}

/** Why it cannot be told here what becomes of a write that the webhook lets pass unjudged. */
const UNTOLD: Readonly<Record<string, (judged: Judged) => string | undefined>> = {
  Inactive: whyUnsure,
  OtherVersion: ({ managed: { status }, stated: { apiVersion } }) =>
    `it is written as ${apiVersion} and kept as ${status.kind === 'active' ? status.baseline.apiVersion : 'another version'}: write it so, or give --hco in its version`,
  SchemaUnknown: ({ stated: { kind } }) =>
    `no schema of ${kind} comes with the program: ask a cluster, with --kubeconfig`,
  Disagreement: ({ managed: { asset } }) =>
    `the leader keeps another baseline of ${asset.name} than this program knows: use its version`,
}

/** What is not active is not judged. That is an answer only where nothing that it follows from is made up. */
function whyUnsure({ managed: { asset, status }, snapshot, assumed }: Judged): string | undefined {
  if (status.kind !== 'inactive' || status.reason === 'NotServed') return undefined
  const isChosen = isHcosChoice(asset, status, snapshot)
  if (!(isChosen ? assumed.hco : assumed.others)) return undefined
  const option = isChosen ? '--hco' : '--nodes'
  return `${asset.name} is not active on the cluster that is assumed: ${status.message}; describe yours with ${option}, or ask it with --kubeconfig`
}

const CHOICES: ReadonlySet<string> = new Set(['NotSelected', 'Excluded'])

/** Whether the HyperConverged alone has the asset inactive, whatever the rest of the cluster is. */
const isHcosChoice = (
  { install, conditions }: Asset,
  { reason }: Extract<AssetStatus, { kind: 'inactive' }>,
  { facts }: Snapshot,
) => CHOICES.has(reason) || (install === 'opt-in' && !areOptInsHeld(conditions, facts))

function whyInactive(reason: string, { managed: { asset, status } }: Judged): readonly string[] {
  return reason === 'Inactive' && 'message' in status
    ? [`${asset.name} is not active: ${status.message}`]
    : []
}
