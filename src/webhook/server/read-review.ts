import { MAX_VALUES } from '../../shared/engine/json/json.ts'
import { MAX_ANNOTATIONS } from '../../shared/engine/overrides/override-names.ts'
import { parseJsonAt, type Span, scanMap, type Wanted } from './json-scan.ts'
import type { AdmissionRequest } from './review.ts'

// So little text cannot hold many more.
const SMALL = 64 << 10

/**
 * Reads a review. Of a large one the objects are read only when somebody asks for them, and of an object of more than
 * MAX_VALUES nothing but its identity, and its labels and annotations under the prefix. Throws Refused,
 * from an object too.
 */
export function readReview(text: Buffer, prefix: string): unknown {
  if (text.length <= SMALL) return parseJsonAt(text)
  const { members } = scanMap(text, reviewWith(prefix))
  const review = builtMembers(text, members)
  const request = members?.get('request')?.members
  return request ? { ...review, request: withObjects(text, request, review.request) } : review
}

const reviewWith = (prefix: string): Wanted => {
  // One more than there may be, so that this is seen.
  const keys: Wanted = { prefix, most: MAX_ANNOTATIONS + 1 }
  const metadata: Wanted = {
    members: {
      name: true,
      namespace: true,
      uid: true,
      resourceVersion: true,
      deletionTimestamp: true,
      labels: keys,
      annotations: keys,
    },
  }
  const object: Wanted = { members: { apiVersion: true, kind: true, metadata } }
  const request: Wanted = {
    members: {
      uid: true,
      operation: true,
      kind: { members: { group: true, version: true, kind: true } },
      subResource: true,
      name: true,
      namespace: true,
      dryRun: true,
      userInfo: { members: { username: true } },
      options: { members: { fieldManager: true, propagationPolicy: true } },
      object,
      oldObject: object,
    },
  }
  return { members: { apiVersion: true, kind: true, request } }
}

const OBJECTS = ['object', 'oldObject'] as const

type Members = NonNullable<Span['members']>

function withObjects(text: Buffer, members: Members, request: unknown): object {
  const oversized = OBJECTS.filter((name) => (members.get(name)?.values ?? 0) > MAX_VALUES)
  const lazy = { ...(request as object), oversized } satisfies Pick<AdmissionRequest, 'oversized'>
  for (const name of OBJECTS) {
    const span = members.get(name)
    if (span) readWhenAsked(lazy, name, () => built(text, span))
  }
  return lazy
}

function readWhenAsked(holder: object, name: string, read: () => unknown): void {
  let known: { readonly value: unknown } | undefined
  const get = () => {
    known ??= { value: read() }
    return known.value
  }
  Object.defineProperty(holder, name, { enumerable: true, get })
}

/** The value, or of one that is too much the members that were asked for. */
const built = (text: Buffer, span: Span): unknown =>
  span.values > MAX_VALUES
    ? builtMembers(text, span.members)
    : parseJsonAt(text, span.start, span.end)

/** What was asked for of a map, but for the objects, which are read later. */
const builtMembers = (text: Buffer, members: Members = new Map()): Record<string, unknown> =>
  Object.fromEntries(
    [...members]
      .filter(([name]) => !OBJECTS.some((object) => object === name))
      .map(([name, span]) => [
        name,
        span.members ? builtMembers(text, span.members) : built(text, span),
      ]),
  )
