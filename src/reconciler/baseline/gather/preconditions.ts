import { BASELINE } from '../../../shared/baseline/names.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import { read } from '../../../shared/cluster/resource.ts'
import { whoAmI } from '../../../shared/cluster/who-am-i.ts'

/** Why this process must not lead, if so: it is not whom the webhook trusts, and would be at war with itself, or another autopilot is here. */
export async function obstacleToLeading(
  client: Client,
  namespace: string,
  trustedUser: string,
): Promise<string | undefined> {
  const user = await whoAmI(client)
  if (user !== trustedUser) {
    const way = "use that account's kubeconfig, or name this user with --trusted-user"
    return `the webhook is to trust ${trustedUser}, and this is ${user}: ${way}`
  }
  // The Go product's Deployment bears this very name; ours do not.
  const at = { apiVersion: 'apps/v1', resource: 'deployments', namespace }
  if (!(await read(client, at, BASELINE.name))) return undefined
  const olm = 'install this one into another namespace, since OLM brings back what it installed'
  const way = `${olm}; where OLM did not, delete it: kubectl delete deployment -n ${namespace} ${BASELINE.name}`
  return `the Deployment ${namespace}/${BASELINE.name} is another autopilot's: ${way}`
}
