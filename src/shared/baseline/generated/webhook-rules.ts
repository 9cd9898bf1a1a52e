import type { KubeObject } from '../../engine/json/object.ts'
import {
  notCleaningUp,
  notTheReconciler,
  type RegistrationInput,
  type WebhookScopes,
  webhookConfigurations,
} from '../../engine/webhook-configuration.ts'
import { type Catalog, kindKey, namespaceOf, servedVersion } from '../catalog/catalog.ts'
import type { Facts } from '../facts/facts.ts'
import { BASELINE } from '../names.ts'

/** What the webhook's registration follows from. */
export interface ScopeInput {
  readonly catalog: Catalog
  readonly facts: Pick<Facts, 'served' | 'hco'>
  /** The resources that a CustomResourceDefinition defines, as `resource.group`; others than the catalog's do no harm. */
  readonly customResources: ReadonlySet<string>
  readonly failurePolicy: 'Ignore' | 'Fail'
  /** The one user whose writes are never sent to the webhook. */
  readonly trustedUser: string
}

/** What the webhook is asked about: only the catalog's objects, by kind, namespace and name, and of kinds that the cluster serves. */
export function webhookScopes(input: ScopeInput): WebhookScopes {
  const conditions = matchConditions(input)
  return {
    mutate: { rules: rules(input, ['CREATE', 'UPDATE']), matchConditions: conditions },
    validate: {
      rules: rules(input, ['CREATE', 'UPDATE', 'DELETE']),
      matchConditions: [...conditions, contentChanged(input)],
    },
  }
}

/** The webhook configurations of the baseline. */
export const baselineWebhooks = (
  input: ScopeInput & Omit<RegistrationInput, 'identity'>,
): readonly KubeObject[] =>
  webhookConfigurations({ ...input, identity: BASELINE }, webhookScopes(input))

const served = ({ catalog, facts }: ScopeInput) =>
  catalog.flatMap((asset) => {
    const version = asset.isTombstone ? undefined : servedVersion(asset, facts.served)
    return version === undefined ? [] : [{ ...asset, version }]
  })

function rules(input: ScopeInput, operations: readonly string[]) {
  const byKind = new Map(served(input).map((asset) => [kindKey(asset.object), asset]))
  return [...byKind.values()].map(({ object: { group, resource, namespace }, version }) => ({
    apiGroups: [group],
    apiVersions: [version],
    operations,
    resources: [resource],
    scope: namespace === undefined ? 'Cluster' : 'Namespaced',
  }))
}

// request.name is empty for a collection delete, and none of the three is there for every operation; an
// expression that could fail would have failurePolicy decide. An object's fields are of no type to CEL.
const NAME =
  'string(oldObject != null ? oldObject.metadata.name : object != null && has(object.metadata.name) ? object.metadata.name : has(request.name) ? request.name : "")'
const NAMESPACE = 'has(request.namespace) ? request.namespace : ""'

const RESOURCE = 'request.resource.group + "/" + request.resource.resource'

function matchConditions(input: ScopeInput) {
  const objects = served(input).map(({ object }) => [
    `${object.group}/${object.resource}`,
    namespaceOf({ object }, input.facts.hco.namespace) ?? '',
    object.name,
  ])
  return [
    {
      name: 'managed-object',
      expression: `[${RESOURCE}, ${NAMESPACE}, ${NAME}] in ${JSON.stringify(objects)}`,
    },
    notTheReconciler(input.trustedUser),
    notCleaningUp(input.failurePolicy),
  ]
}

/**
 * What the entry that sees a write last has to judge: what was changed of all that may be managed, be it by a webhook after ours alone.
 * By then the API server has set the generation, which of a custom resource counts every change but those of metadata and status. Of
 * its own kinds it counts some changes or none (a PriorityClass always has generation 1), or keeps what a client made up.
 */
function contentChanged(input: ScopeInput) {
  const custom = served(input)
    .filter(({ object: { group, resource } }) => input.customResources.has(`${resource}.${group}`))
    .map(({ object: { group, resource } }) => `${group}/${resource}`)
  const counts = `${RESOURCE} in ${JSON.stringify([...new Set(custom)])}`
  const differ = (field: string) => `${mapOf('object', field)} != ${mapOf('oldObject', field)}`
  return {
    name: 'content-changed',
    expression: [
      'request.operation != "UPDATE"',
      'object == null || oldObject == null',
      `!(${counts})`,
      '!has(object.metadata.generation) || !has(oldObject.metadata.generation)',
      'object.metadata.generation != oldObject.metadata.generation',
      differ('labels'),
      differ('annotations'),
    ].join(' || '),
  }
}

const mapOf = (object: string, field: string) =>
  `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : {})`
