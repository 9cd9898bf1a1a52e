import {
  notCleaningUp,
  notTheReconciler,
  type RegistrationInput,
  type WebhookScopes,
} from '../engine/webhook-configuration.ts'
import { GROUP, VERSION } from './names.ts'
import { RESOURCE_GRAPH } from './resource-graph.ts'
import { TRANSFORM } from './transform.ts'

export interface ScopeInput {
  readonly failurePolicy: RegistrationInput['failurePolicy']
  /** The one user whose writes are never sent to the webhook. */
  readonly reconciler: string
}

/** What the webhook is asked about: both kinds, as a write is judged last, and what of them matters. */
export const webhookScopes = ({ failurePolicy, reconciler }: ScopeInput): WebhookScopes => ({
  validate: {
    rules: [
      {
        apiGroups: [GROUP],
        apiVersions: [VERSION],
        operations: ['CREATE', 'UPDATE', 'DELETE'],
        resources: [TRANSFORM.plural, RESOURCE_GRAPH.plural],
        scope: 'Namespaced',
      },
    ],
    matchConditions: [
      notTheReconciler(reconciler),
      notCleaningUp(failurePolicy),
      // Every change of a spec is counted there, and no other: a finalizer goes whatever becomes of us.
      {
        name: 'spec-changed',
        expression:
          'request.operation != "UPDATE" || object == null || oldObject == null || object.metadata.generation != oldObject.metadata.generation',
      },
      {
        name: 'not-repaired',
        expression: `request.resource.resource != "${RESOURCE_GRAPH.plural}" || !(has(request.userInfo.groups) && "system:masters" in request.userInfo.groups)`,
      },
    ],
  },
})
