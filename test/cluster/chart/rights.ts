import { loadCatalogWith } from '../../../src/cli/assets.ts'
import type { Rule } from '../../../src/shared/api/roles.ts'
import { accounts } from '../../../src/shared/baseline/generated/rbac.ts'
import { accountUser } from '../../../src/shared/engine/identity.ts'
import { NAMESPACE } from '../../chart/helm.ts'
import type { Loose } from '../../chart/pods.ts'

/** What both accounts may do by their roles, one line for each verb of a resource. */
export function grantedRights(): ReadonlySet<string> {
  const objects: readonly Loose[] = accounts(loadCatalogWith({ namespace: NAMESPACE }), NAMESPACE)
  const roles = objects.filter(({ rules }) => rules)
  return new Set(
    roles.flatMap(({ metadata, rules }) =>
      rules.flatMap(({ apiGroups, resources, verbs }: Rule) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            verbs.map((verb) => rightOf(metadata.name, verb, group, resource)),
          ),
        ),
      ),
    ),
  )
}

/** What both accounts did of that, by the audit log of the API server. */
export const usedRights = (entries: readonly Loose[]): ReadonlySet<string> =>
  new Set(
    entries.flatMap(({ user, verb, objectRef, responseStatus }) => {
      if (!objectRef) return []
      const account = user.username.slice(accountUser(NAMESPACE, '').length)
      const { apiGroup = '', resource } = objectRef
      const verbs = verb === 'patch' && responseStatus?.code === CREATED ? [verb, 'create'] : [verb]
      return verbs.map((one) => rightOf(account, one, apiGroup, resource))
    }),
  )

const CREATED = 201

const rightOf = (account: string, verb: string, group: string, resource: string) =>
  `${account.replace('virt-platform-autopilot-', '')}: ${verb} ${resource}${group && `.${group}`}`
