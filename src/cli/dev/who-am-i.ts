import { accountUser, RECONCILER_ACCOUNT } from '../../shared/catalog/names.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { whoAmI } from '../../shared/cluster/who-am-i.ts'

/** Throws when the kubeconfig is the reconciler's own: whoever tries things on it would never be judged. */
export async function requireStranger(client: Client, namespace: string): Promise<void> {
  const exempt = accountUser(namespace, RECONCILER_ACCOUNT)
  if ((await whoAmI(client)) !== exempt) return
  throw new Error(
    `the kubeconfig is ${exempt}'s, whose writes the webhook never sees: use an administrator's`,
  )
}
