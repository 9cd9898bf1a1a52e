import { type Client, isConflict, isForbidden, isNotFound } from '../../shared/cluster/client.ts'
import { impersonate } from '../../shared/cluster/impersonate.ts'
import { apply, deleteExactly, type Resource } from '../../shared/cluster/resource.ts'
import type { Account } from '../../shared/engine/identity.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import type { Action } from '../../shared/graph-engine/step/action.ts'
import { refusalOf } from './observer.ts'

/** What came of one action. */
export type Result =
  | { readonly kind: 'applied'; readonly object: KubeObject }
  | { readonly kind: 'deleting' | 'gone' }
  /** The object is not the one that it was planned from: to be looked at again, at once. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'failed'; readonly message: string }

export interface ActDeps {
  readonly client: Client
  readonly account: Account
  /** Where the object of the action is; undefined while its kind is not served. */
  readonly at: Resource | undefined
}

/** Takes one action in the name of an account. Rejects only where nobody answered. */
export async function act(action: Action, { client, account, at }: ActDeps): Promise<Result> {
  if (!at) return { kind: 'failed', message: 'its kind is not served' }
  const as = impersonate(client, account)
  try {
    if (action.kind === 'delete') return { kind: await remove(action, as, at) }
    const { object, isForced: force, fieldManager } = action
    return { kind: 'applied', object: await apply(as, at, object, { force, fieldManager }) }
  } catch (error) {
    if (isStale(error as Error)) return { kind: 'stale' }
    return { kind: 'failed', message: messageOf(error as Error, account, at) }
  }
}

async function remove(
  { ref: { name }, uid, resourceVersion }: Extract<Action, { kind: 'delete' }>,
  client: Client,
  at: Resource,
): Promise<'deleting' | 'gone'> {
  const metadata = { name, uid, ...(resourceVersion !== undefined && { resourceVersion }) }
  const deletion = await deleteExactly(client, at, { metadata })
  return deletion === 'ending' ? 'deleting' : 'gone'
}

// The API server has one status for a precondition that failed and for fields that another manager owns.
const isStale = (error: Error) => isConflict(error) && !/Apply failed with/.test(error.message)

function messageOf(error: Error, account: Account, at: Resource): string {
  if (isForbidden(error)) return refusalOf(account, at, error)
  if (isNotFound(error) && at.namespace !== undefined)
    return `${error.message}: is there a namespace ${at.namespace}?`
  if (isConflict(error)) return `it conflicts with another manager: ${error.message}`
  if (error.name === 'ApiError') return error.message
  throw error
}
