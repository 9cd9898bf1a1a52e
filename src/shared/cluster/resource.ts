import { isKubeObject, type KubeObject } from '../engine/json/object.ts'
import { ApiError, type Client, isNotFound, type RequestInput } from './client.ts'

/** Where objects of one kind are found on the API server. */
export interface Resource {
  readonly apiVersion: string
  readonly resource: string
  readonly namespace?: string
}

/** The path of a collection, or of one object where a name is given. */
export function pathOf({ apiVersion, resource, namespace }: Resource, name?: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `${root}${scope}/${resource}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

/** Reads one object by name; undefined where there is none. */
export async function read(
  client: Client,
  at: Resource,
  name: string,
  signal?: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return (await client.send(pathOf(at, name), { ...(signal && { signal }) })).body as KubeObject
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

const patch = async (
  client: Client,
  at: Resource,
  name: string,
  { subresource, ...request }: RequestInput & Pick<ApplyOptions, 'subresource'>,
) => {
  const path = `${pathOf(at, name)}${subresource === undefined ? '' : `/${subresource}`}`
  return (await client.send(path, { ...request, method: 'PATCH' })).body as KubeObject
}

export interface ApplyOptions {
  readonly isDryRun?: boolean
  /** Takes over what others own, which is the default; without it, ApiError 409 names what they own. */
  readonly force?: boolean
  readonly fieldManager?: string
  /** Of the object, such as `status`: only what it holds is applied. */
  readonly subresource?: 'status'
  readonly signal?: AbortSignal
}

/** Applies a partial object: what it states is ours. A uid or resourceVersion in it is a precondition; ApiError 409 says that it failed. */
export function apply(
  client: Client,
  at: Resource,
  object: KubeObject,
  {
    isDryRun = false,
    force = true,
    fieldManager = client.fieldManager,
    subresource,
    signal,
  }: ApplyOptions = {},
): Promise<KubeObject> {
  const dryRun = isDryRun ? 'All' : undefined
  return patch(client, at, object.metadata.name, {
    contentType: 'application/apply-patch+yaml',
    body: object,
    query: { fieldManager, force, fieldValidation: 'Strict', dryRun },
    ...(subresource && { subresource }),
    ...(signal && { signal }),
  })
}

/** Applies a JSON patch (RFC 6902) to one object. A `test` that fails is a conflict, like any other precondition. */
export async function patchJson(
  client: Client,
  at: Resource,
  name: string,
  operations: readonly object[],
): Promise<KubeObject> {
  const query = { fieldManager: client.fieldManager }
  const contentType = 'application/json-patch+json'
  try {
    return await patch(client, at, name, { contentType, body: operations, query })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error
    const { message } = error
    throw new ApiError(`PATCH ${pathOf(at, name)}`, 409, { message, reason: 'Conflict' })
  }
}

/** Sets annotations on one object and touches nothing else of it. */
export function annotate(
  client: Client,
  at: Resource,
  name: string,
  annotations: Readonly<Record<string, string>>,
  fieldManager: string,
): Promise<KubeObject> {
  const contentType = 'application/merge-patch+json'
  const body = { metadata: { annotations } }
  return patch(client, at, name, { contentType, body, query: { fieldManager } })
}

/** What became of a deletion: `ending` while finalizers hold it up, `absent` where there was nothing left to delete. */
export type Deletion = 'deleted' | 'ending' | 'absent'

/** Deletes an object if it still has this uid and resourceVersion; ApiError 409 where it has not. */
export async function deleteExactly(
  client: Client,
  at: Resource,
  { metadata: { name, uid, resourceVersion } }: Pick<KubeObject, 'metadata'>,
): Promise<Deletion> {
  try {
    const { body } = await client.send(pathOf(at, name), {
      method: 'DELETE',
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        // What it owns goes with it: left to itself, the API leaves the pods of a Job behind.
        propagationPolicy: 'Background',
        preconditions: { uid, resourceVersion },
      },
    })
    // The answer is the object itself as long as there is one.
    return isKubeObject(body) && body.metadata.deletionTimestamp ? 'ending' : 'deleted'
  } catch (error) {
    if (isNotFound(error)) return 'absent'
    throw error
  }
}

/** The time now as the API wants a MicroTime: exactly six digits after the point. */
export const microTime = () => new Date().toISOString().replace('Z', '000Z')

/** A time, by default the present, as the API wants a Time: whole seconds. */
export const timestamp = (ms = Date.now()) => `${new Date(ms).toISOString().slice(0, 19)}Z`
