import type { KubeObject } from '../engine/json/object.ts'
import { type Client, isConflict, isNotFound } from './client.ts'
import { patchJson, pathOf, type Resource } from './resource.ts'
import { type ListPage, METADATA_LIST } from './watch.ts'

export const finalizersOf = ({ metadata }: KubeObject): readonly string[] =>
  (metadata.finalizers as readonly string[] | undefined) ?? []

/** Adds a finalizer of ours; ApiError 409 where the object changed since it was read. */
export async function addFinalizer(
  client: Client,
  at: Resource,
  object: KubeObject,
  finalizer: string,
): Promise<KubeObject> {
  const finalizers = finalizersOf(object)
  if (finalizers.includes(finalizer)) return object
  const path = '/metadata/finalizers'
  return patchJson(client, at, object.metadata.name, [
    { op: 'test', path: '/metadata/resourceVersion', value: object.metadata.resourceVersion },
    { op: 'add', path, value: [...finalizers, finalizer] },
  ])
}

/** Takes a finalizer of ours away, and no other; what is gone already has none. ApiError 409 where the object changed since it was read. */
export async function removeFinalizer(
  client: Client,
  at: Resource,
  object: KubeObject,
  finalizer: string,
): Promise<void> {
  const index = finalizersOf(object).indexOf(finalizer)
  if (index < 0) return
  const path = `/metadata/finalizers/${index}`
  const operations = [
    { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ]
  try {
    await patchJson(client, at, object.metadata.name, operations)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

const PAGE = 500
// One to take it away, one to see that nobody puts it back, and some for whoever writes meanwhile.
const PASSES = 5

/** Takes a finalizer of ours away from all objects of a kind, until none has it; says from how many. None has it where the kind is not served. */
export async function removeFinalizers(
  client: Client,
  at: Resource,
  finalizer: string,
): Promise<number> {
  const seen = new Set<unknown>()
  for (let pass = 0; pass < PASSES; pass++) {
    const held = await heldBy(client, at, finalizer)
    if (held.length === 0) return seen.size
    for (const object of held) {
      const { namespace, uid } = object.metadata
      const there = { ...at, ...(namespace !== undefined && { namespace }) }
      await removeFinalizer(client, there, object, finalizer).catch((error: unknown) => {
        if (!isConflict(error)) throw error
      })
      seen.add(uid)
    }
  }
  throw new Error(
    `somebody puts the finalizer ${finalizer} back on ${at.resource}: end every reconciler first`,
  )
}

/** The metadata of all objects of a kind that have a finalizer. */
async function heldBy(
  client: Client,
  at: Resource,
  finalizer: string,
): Promise<readonly KubeObject[]> {
  const held: KubeObject[] = []
  let next: string | undefined
  do {
    const query = { limit: PAGE, continue: next }
    const page = await client
      .send(pathOf(at), { query, accept: METADATA_LIST })
      .then(({ body }) => body as ListPage)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined
        throw error
      })
    held.push(...(page?.items ?? []).filter((one) => finalizersOf(one).includes(finalizer)))
    next = page?.metadata.continue || undefined
  } while (next !== undefined)
  return held
}
