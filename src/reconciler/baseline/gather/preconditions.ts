import { BASELINE } from '../../../shared/baseline/names.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import { read } from '../../../shared/cluster/resource.ts'
import { whoAmI } from '../../../shared/cluster/who-am-i.ts'

/** Ends the process with a message; never resolves. */
export type Fail = (message: string) => Promise<never>

/**
 * Makes sure that this process may lead: it is the user that the webhook trusts, or each of its writes
 * would be a war with ourselves, and no other autopilot with opinions of its own is installed here.
 */
export async function requireLeadership(
  client: Client,
  namespace: string,
  trustedUser: string,
  fail: Fail,
): Promise<void> {
  const user = await whoAmI(client)
  if (user !== trustedUser) {
    const way = "use that account's kubeconfig, or name this user with --trusted-user"
    return fail(`the webhook is to trust ${trustedUser}, and this is ${user}: ${way}`)
  }
  // The Go product's Deployment bears this very name; ours do not.
  const at = { apiVersion: 'apps/v1', resource: 'deployments', namespace }
  if (!(await read(client, at, BASELINE.name))) return
  const olm = 'install this one into another namespace, since OLM brings back what it installed'
  const way = `${olm}; where OLM did not, delete it: kubectl delete deployment -n ${namespace} ${BASELINE.name}`
  return fail(`the Deployment ${namespace}/${BASELINE.name} is another autopilot's: ${way}`)
}
