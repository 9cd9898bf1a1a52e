import { LRUCache } from 'lru-cache'
import { type Client, isForbidden } from '../../shared/cluster/client.ts'
import { read } from '../../shared/cluster/resource.ts'
import type { Account } from '../../shared/engine/identity.ts'
import type { Fault } from '../../shared/graph/fault.ts'

/** How long after a fault of rights it is looked at again, in milliseconds: nothing tells us that they were given. */
export const RIGHTS_AGAIN_MS = 10_000

/** Why nothing can be done by an account; undefined where it can. `isAnew` asks whatever is known: before something new is done by it. */
export type AccountFault = (account: Account, isAnew: boolean) => Promise<Fault | undefined>

// So long it is taken for granted that an account is still there: every now and then all Transforms of a namespace are looked at.
const KNOWN_MS = 60_000
const ACCOUNTS = 1_000

/** Asks whether accounts are there: impersonation works for one that does not exist. */
export function createAccountFault(client: Client): AccountFault {
  const known = new LRUCache<string, true>({ max: ACCOUNTS, ttl: KNOWN_MS })
  return async (account, isAnew) => {
    const { namespace, name } = account
    const key = `${namespace}/${name}`
    if (known.has(key) && !isAnew) return undefined
    known.delete(key)
    const fault = await ask(client, account)
    if (!fault) known.set(key, true)
    return fault
  }
}

async function ask(client: Client, { namespace, name }: Account): Promise<Fault | undefined> {
  const at = { apiVersion: 'v1', resource: 'serviceaccounts', namespace }
  try {
    if (await read(client, at, name)) return undefined
  } catch (error) {
    if (!isForbidden(error)) throw error
    return notEnrolled(namespace)
  }
  return {
    reason: 'AccountNotFound',
    causes: [
      {
        field: 'spec.serviceAccountName',
        message: `there is no ServiceAccount ${namespace}/${name}: ${enrolCommand(namespace)}`,
      },
    ],
  }
}

/** That we may not act in a namespace, and the command by which an administrator lets us. */
const notEnrolled = (namespace: string): Fault => ({
  reason: 'NotEnrolled',
  causes: [
    {
      field: '',
      message: `the namespace ${namespace} is not enrolled, so that nothing can be done in it: ${enrolCommand(namespace)}`,
    },
  ],
})

const enrolCommand = (namespace: string) =>
  `virt-platform-autopilot enroll ${namespace} | kubectl apply -f -`
