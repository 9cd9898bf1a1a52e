import type { KubeObject } from '../engine/object.ts'
import { type Catalog, kindKey, namespaceOf, servedVersion } from './catalog.ts'
import type { Facts } from './facts.ts'
import { WEBHOOK_CONFIGURATION } from './names.ts'

/** How the API server reaches the webhook. */
export type WebhookEndpoint =
  | { readonly url: string }
  | { readonly service: { readonly name: string; readonly namespace: string } }

export interface RegistrationInput {
  readonly catalog: Catalog
  readonly facts: Pick<Facts, 'served' | 'hco'>
  readonly endpoint: WebhookEndpoint
  /** PEM certificates of the authorities to trust. */
  readonly bundle: string
  readonly failurePolicy: 'Ignore' | 'Fail'
  /** The one user whose writes are never sent to the webhook. */
  readonly trustedUser: string
  /** The cluster-scoped object with which the configurations are garbage-collected. */
  readonly owner: KubeObject | undefined
}

/**
 * The webhook configurations: only kinds that the catalog names and the cluster serves, only the
 * catalog's objects by namespace and name, no subresource and no wildcard.
 */
export function webhookConfigurations(input: RegistrationInput): readonly KubeObject[] {
  const entry = {
    admissionReviewVersions: ['v1'],
    failurePolicy: input.failurePolicy,
    matchConditions: matchConditions(input),
    matchPolicy: 'Equivalent',
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: 3,
  }
  const path = (name: string) => ({ ...entry, clientConfig: clientConfig(input, name) })
  return [
    configuration(input, 'MutatingWebhookConfiguration', {
      ...path('mutate'),
      name: 'mutate.platform.kubevirt.io',
      reinvocationPolicy: 'IfNeeded',
      rules: rules(input, ['CREATE', 'UPDATE']),
    }),
    configuration(input, 'ValidatingWebhookConfiguration', {
      ...path('validate'),
      name: 'validate.platform.kubevirt.io',
      rules: rules(input, ['CREATE', 'UPDATE', 'DELETE']),
    }),
  ]
}

const configuration = (
  { owner }: RegistrationInput,
  kind: string,
  webhook: object,
): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: {
    name: WEBHOOK_CONFIGURATION,
    ...(owner && {
      ownerReferences: [
        {
          apiVersion: owner.apiVersion,
          kind: owner.kind,
          name: owner.metadata.name,
          uid: owner.metadata.uid,
        },
      ],
    }),
  },
  webhooks: [webhook],
})

function clientConfig({ endpoint, bundle }: RegistrationInput, path: string) {
  const caBundle = btoa(bundle)
  return 'url' in endpoint
    ? { url: `${endpoint.url.replace(/\/$/, '')}/${path}`, caBundle }
    : { service: { ...endpoint.service, path: `/${path}`, port: 443 }, caBundle }
}

const served = ({ catalog, facts }: RegistrationInput) =>
  catalog.flatMap((asset) => {
    const version = servedVersion(asset, facts.served)
    return version === undefined ? [] : [{ ...asset, version }]
  })

function rules(input: RegistrationInput, operations: readonly string[]) {
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

function matchConditions(input: RegistrationInput) {
  const objects = served(input).map(({ object }) => [
    `${object.group}/${object.resource}`,
    namespaceOf({ object }, input.facts.hco.namespace) ?? '',
    object.name,
  ])
  const resource = 'request.resource.group + "/" + request.resource.resource'
  return [
    {
      name: 'managed-object',
      expression: `[${resource}, ${NAMESPACE}, ${NAME}] in ${JSON.stringify(objects)}`,
    },
    {
      name: 'not-the-reconciler',
      expression: `request.userInfo.username != ${JSON.stringify(input.trustedUser)}`,
    },
  ]
}
