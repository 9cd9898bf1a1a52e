import { LRUCache } from 'lru-cache'
import { type Client, isForbidden } from '../../shared/cluster/client.ts'
import { read } from '../../shared/cluster/resource.ts'
import type { Account } from '../../shared/engine/identity.ts'
import type { Fault } from '../../shared/graph/fault.ts'
import { DEFAULT_ACCOUNT, GRAPH } from '../../shared/graph/names.ts'

/** How long after a fault of rights it is looked at again, in milliseconds: nothing tells us that they were given. */
export const RIGHTS_AGAIN_MS = 10_000

/** Why nothing can be done by an account; undefined where it can. `isAnew` asks whatever is known: before something new is done by it. */
export type AccountFault = (account: Account, isAnew: boolean) => Promise<Fault | undefined>

// So long it is taken for granted that an account is still there: every now and then all Transforms of a namespace are looked at.
const KNOWN_MS = 60_000
const ACCOUNTS = 1_000

/** Asks whether accounts are there: impersonation works for one that does not exist. */
export function createAccountFault(client: Client): AccountFault {
  const known = new LRUCache<string, { readonly fault: Fault | undefined }>({ max: ACCOUNTS })
  return async (account, isAnew) => {
    const { namespace, name } = account
    const key = `${namespace}/${name}`
    const found = isAnew ? undefined : known.get(key)
    if (found) return found.fault
    const fault = await ask(client, account)
    known.set(key, { fault }, { ttl: fault ? RIGHTS_AGAIN_MS / 2 : KNOWN_MS })
    return fault
  }
}

async function ask(client: Client, { namespace, name }: Account): Promise<Fault | undefined> {
  const at = { apiVersion: 'v1', resource: 'serviceaccounts', namespace }
  try {
    if (await read(client, at, name)) return undefined
  } catch (error) {
    if (!isForbidden(error)) throw error
    return notOurs({ namespace, name })
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

/** That we may not act as an account, and the command by which an administrator lets us. */
export function notOurs({ namespace, name }: Account): Fault {
  const message =
    name === DEFAULT_ACCOUNT
      ? `the namespace ${namespace} is not enrolled, so that nothing can be done in it: ${enrolCommand(namespace)}`
      : `we may not act as the ServiceAccount ${namespace}/${name}, if there is one; to allow it: ${actAsCommand(namespace, name)}`
  return { reason: 'NotEnrolled', causes: [{ field: '', message }] }
}

const enrolCommand = (namespace: string) =>
  `virt-platform-autopilot enroll ${namespace} | kubectl apply -f -`

const actAsCommand = (namespace: string, name: string) =>
  `kubectl create role act-as-${name} -n ${namespace} --verb=get,impersonate --resource=serviceaccounts --resource-name=${name} && kubectl create rolebinding act-as-${name} -n ${namespace} --role=act-as-${name} --serviceaccount=${GRAPH.name}:${GRAPH.reconcilerAccount}`
