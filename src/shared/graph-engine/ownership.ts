import { cut } from '../engine/format-value.ts'
import { annotationOf, type KubeObject } from '../engine/json/object.ts'
import type { Digest } from './inventory.ts'

/** Whom a graph's objects belong to. */
export interface Owner {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** What a system calls its marks; the engine itself knows no names. */
export interface MarkNames {
  /** The field manager is `<prefix>:<namespace>/<name>`. */
  readonly fieldManagerPrefix: string
  /** Holds `<kind>/<namespace>/<name>/<uid>` of the owner, and decides whose an object is. */
  readonly ownerAnnotation: string
  /** For watches; it decides nothing. */
  readonly ownerLabel: string
  /** `"true"` keeps an object from being pruned or deleted. */
  readonly protectionAnnotation: string
  /** How long an object stays after it left its graph: seconds, or `90s`, `5m`, `1h`. */
  readonly gracePeriodAnnotation: string
}

/** Whose a live object is. */
export type Verdict =
  | { readonly kind: 'ours' }
  /** Of the same kind, namespace and name of owner under another uid: restored from a backup or recreated, and taken on. */
  | { readonly kind: 'restored' }
  /** Of another owner, as people name it. */
  | { readonly kind: 'owned'; readonly by: string }
  /** Of no graph; `managers` are its field managers. */
  | { readonly kind: 'foreign'; readonly managers: readonly string[] }

const MAX_FIELD_MANAGER = 128
const MAX_LABEL_VALUE = 63
const SHORT_DIGEST = 16

/** The name under which an owner's objects are applied, so that two owners conflict in the API server itself. */
export const fieldManagerOf = (
  { namespace, name }: Owner,
  { fieldManagerPrefix }: MarkNames,
  digest: Digest,
) => shortened(`${fieldManagerPrefix}:${namespace}/${name}`, MAX_FIELD_MANAGER, digest)

/** The value of the owner's label. No namespace has a dot in its name, so that no two owners of one kind share a value. */
export const labelValueOf = ({ namespace, name }: Owner, digest: Digest) =>
  shortened(`${namespace}.${name}`, MAX_LABEL_VALUE, digest)

const shortened = (text: string, limit: number, digest: Digest) =>
  text.length <= limit
    ? text
    : `${text.slice(0, limit - SHORT_DIGEST - 1)}-${digest(text).slice(0, SHORT_DIGEST)}`

/** The object with the marks of its owner. */
export function withMarks(
  object: KubeObject,
  owner: Owner,
  names: MarkNames,
  digest: Digest,
): KubeObject {
  const { labels, annotations } = object.metadata
  const metadata = {
    ...object.metadata,
    labels: { ...labels, [names.ownerLabel]: labelValueOf(owner, digest) },
    annotations: { ...annotations, [names.ownerAnnotation]: annotationValueOf(owner) },
  }
  return { ...object, metadata }
}

const annotationValueOf = ({ kind, namespace, name, uid }: Owner) =>
  `${kind}/${namespace}/${name}/${uid}`

/**
 * Whose the live object is. An annotation that nobody of ours could have written is another owner's. `uid` is that of the
 * object which the inventory knows by this name: marks that somebody removed from it do not make it another one.
 */
export function verdictOf(
  live: KubeObject,
  owner: Owner,
  names: MarkNames,
  uid: string | undefined,
): Verdict {
  const mark = annotationOf(live, names.ownerAnnotation)
  if (mark === undefined) {
    const isKnown = uid !== undefined && live.metadata.uid === uid
    return isKnown ? { kind: 'ours' } : { kind: 'foreign', managers: managersOf(live) }
  }
  if (mark === annotationValueOf(owner)) return { kind: 'ours' }
  const [kind, namespace, name, ...rest] = mark.split('/')
  const isMark = rest.length === 1
  const isSameOwner =
    isMark && kind === owner.kind && namespace === owner.namespace && name === owner.name
  if (isSameOwner) return { kind: 'restored' }
  return { kind: 'owned', by: cut(isMark ? `${kind} ${namespace}/${name}` : mark, 400) }
}

const managersOf = ({ metadata: { managedFields = [] } }: KubeObject) => [
  ...new Set(
    managedFields.flatMap(({ manager, subresource }) => (manager && !subresource ? [manager] : [])),
  ),
]

const MANAGERS_SHOWN = 3

/** Completes "Deployment shop/web " for an object that is there and not ours. */
export function describeVerdict(verdict: Exclude<Verdict, { kind: 'ours' | 'restored' }>): string {
  if (verdict.kind === 'owned') return `exists already and belongs to ${verdict.by}`
  const { managers } = verdict
  if (managers.length === 0) return 'exists already and belongs to no graph'
  const shown = managers.slice(0, MANAGERS_SHOWN).map((manager) => cut(manager, 80))
  const more = managers.length > shown.length ? ` and ${managers.length - shown.length} more` : ''
  return `exists already, belongs to no graph and is managed by ${shown.join(', ')}${more}`
}
