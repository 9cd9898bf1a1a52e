import { PREFIX } from '../../shared/baseline/annotations.ts'
import { kindKey, namespaceOf } from '../../shared/baseline/catalog/catalog.ts'
import { canonicalJson } from '../../shared/engine/json/canonical.ts'
import { groupOf, type KubeObject, titleOf } from '../../shared/engine/json/object.ts'
import { merge } from '../../shared/engine/merge/merge.ts'
import { decide } from '../../webhook/baseline/decide/decide.ts'
import type { DecideOptions } from '../../webhook/baseline/decide/gathered.ts'
import { answerTo } from '../../webhook/baseline/handlers.ts'
import type { ManagedObject, Snapshot } from '../../webhook/baseline/snapshot.ts'
import type { Answer } from '../../webhook/baseline/words/answer.ts'
import { readReview } from '../../webhook/server/read-review.ts'
import type { AdmissionRequest } from '../../webhook/server/review.ts'
import { titleOfFile } from '../read-objects.ts'
import type { Manifest } from './manifests.ts'

/** What the webhook says to one manifest of an object of ours. */
export interface Finding {
  readonly file: string
  readonly line: number
  readonly object: string
  readonly asset: string
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

/**
 * Judges a manifest as the webhook would its server-side apply with force, over the object as it is stored: what GitOps
 * tools do, again and again. Pure. Throws an Error that names the place of
 * an object which the API server would not have the webhook see.
 */
export function judge(
  { file, line, object }: Manifest,
  managed: ManagedObject,
  { snapshot, stored: old, enforcement, digest }: JudgeOptions,
): Finding {
  const { asset, tree } = managed
  const namespace = namespaceOf(asset, snapshot.facts.hco.namespace)
  const stated = { ...object, metadata: { ...object.metadata, ...(namespace && { namespace }) } }
  const incoming = old && tree ? merge(tree, old, stated) : stated
  const deps = { snapshot: () => snapshot, catalog: [asset], enforcement, digest }
  // A check is no attempt: nothing counts as one of an edit war.
  const answer = namingPlace({ file, line }, () =>
    answerTo(requestFor(incoming, old), deps, (gathered) => decide(gathered, () => undefined)),
  )
  const place = { file, line, object: titleOf(stated), asset: asset.name }
  return { ...place, ...verdictIn(answer, managed, stated) }
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

function verdictIn(answer: Answer | undefined, managed: ManagedObject, stated: KubeObject): Told {
  if (!answer) return { verdict: 'unknown', reason: 'NotJudged', messages: [] }
  const { verdict, reason, response } = answer
  const why = UNTOLD[reason]?.(managed, stated)
  if (why !== undefined) return { verdict: 'unknown', reason, messages: [why] }
  const { status, warnings = [] } = response
  const messages = status ? [status.message] : warnings
  // What its own override asks for is put beside what the manifest says, and contradicts none of it.
  const isAsAsked = verdict === 'corrected' && reason === 'Override'
  return { verdict: isAsAsked ? 'allowed' : verdict, reason, messages }
}

/** Why the webhook lets a write pass that it cannot judge. */
const UNTOLD: Readonly<Record<string, (managed: ManagedObject, stated: KubeObject) => string>> = {
  OtherVersion: ({ status }, { apiVersion }) =>
    `it is written as ${apiVersion} and kept as ${status.kind === 'active' ? status.baseline.apiVersion : 'another version'}: write it so, or give --hco in its version`,
  SchemaUnknown: (_managed, { kind }) =>
    `no schema of ${kind} comes with the program: ask a cluster, with --kubeconfig`,
  Disagreement: ({ asset }) =>
    `the leader keeps another baseline of ${asset.name} than this program knows: use its version`,
}
