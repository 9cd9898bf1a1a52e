import type { KubeObject } from '../engine/json/object.ts'
import { type Client, isNotFound } from './client.ts'
import { patchJson, type Resource } from './resource.ts'

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
