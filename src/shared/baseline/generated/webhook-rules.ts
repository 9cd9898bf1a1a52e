import type { KubeObject } from '../../engine/json/object.ts'
import { type Catalog, kindKey, namespaceOf, servedVersion } from '../catalog/catalog.ts'
import type { Facts } from '../facts/facts.ts'
import { CLEANERS, WEBHOOK_CONFIGURATION } from '../names.ts'

/** How the API server reaches the webhook. */
export type WebhookEndpoint =
  | { readonly url: string }
  | { readonly service: { readonly name: string; readonly namespace: string } }

/**
 * The authorities, PEM without a word beside it; or the annotations that tell somebody else to inject them, and whether that was done:
 * until then nobody is asked, since no call could succeed.
 */
export type WebhookTrust =
  | { readonly bundle: string }
  | { readonly injection: Readonly<Record<string, string>>; readonly isInjected: boolean }

export interface RegistrationInput {
  readonly catalog: Catalog
  readonly facts: Pick<Facts, 'served' | 'hco'>
  /** The resources that a CustomResourceDefinition defines, as `resource.group`; others than the catalog's do no harm. */
  readonly customResources: ReadonlySet<string>
  readonly endpoint: WebhookEndpoint
  /** Whom the API server trusts the webhook by. */
  readonly trust: WebhookTrust
  readonly failurePolicy: 'Ignore' | 'Fail'
  /** How long the API server waits for each of the two entries, in whole seconds. */
  readonly timeoutS: number
  /** The one user whose writes are never sent to the webhook. */
  readonly trustedUser: string
  /** The cluster-scoped object with which the configurations are garbage-collected. */
  readonly owner: KubeObject | undefined
}

const DOMAIN = '.platform.kubevirt.io'

/** Whether a webhook of this name is one of ours, rather than what somebody put beside it. */
export const isOwnWebhook = (name: string): boolean => name.endsWith(DOMAIN)

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
    timeoutSeconds: input.timeoutS,
  }
  const path = (name: string) => ({ ...entry, clientConfig: clientConfig(input, name) })
  return [
    configuration(input, 'MutatingWebhookConfiguration', {
      ...path('mutate'),
      name: `mutate${DOMAIN}`,
      reinvocationPolicy: 'IfNeeded',
      rules: rules(input, ['CREATE', 'UPDATE']),
    }),
    configuration(input, 'ValidatingWebhookConfiguration', {
      ...path('validate'),
      matchConditions: [...entry.matchConditions, contentChanged(input)],
      name: `validate${DOMAIN}`,
      rules: rules(input, ['CREATE', 'UPDATE', 'DELETE']),
    }),
  ]
}

const configuration = (
  { owner, trust }: RegistrationInput,
  kind: string,
  webhook: object,
): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: {
    name: WEBHOOK_CONFIGURATION,
    ...('injection' in trust && { annotations: trust.injection }),
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

function clientConfig({ endpoint, trust }: RegistrationInput, path: string) {
  // Who injects it owns it: what an apply does not state stays.
  const ca = 'bundle' in trust ? { caBundle: btoa(trust.bundle) } : {}
  return 'url' in endpoint
    ? { url: `${endpoint.url.replace(/\/$/, '')}/${path}`, ...ca }
    : { service: { ...endpoint.service, path: `/${path}`, port: 443 }, ...ca }
}

const served = ({ catalog, facts }: RegistrationInput) =>
  catalog.flatMap((asset) => {
    const version = asset.isTombstone ? undefined : servedVersion(asset, facts.served)
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

const ENDING = 'oldObject != null && has(oldObject.metadata.deletionTimestamp)'

const RESOURCE = 'request.resource.group + "/" + request.resource.resource'

function matchConditions(input: RegistrationInput) {
  const objects = served(input).map(({ object }) => [
    `${object.group}/${object.resource}`,
    namespaceOf({ object }, input.facts.hco.namespace) ?? '',
    object.name,
  ])
  const byCleaner = `request.userInfo.username in ${JSON.stringify(CLEANERS)}`
  // Where a webhook that is away would refuse it, a finalizer goes all the same; else what ends is judged as long as it is there.
  const cleaningUp =
    input.failurePolicy === 'Fail'
      ? [`${byCleaner} && request.operation != "CREATE"`, ENDING]
      : [`${byCleaner} && request.operation == "DELETE"`]
  return [
    {
      name: 'managed-object',
      expression: `[${RESOURCE}, ${NAMESPACE}, ${NAME}] in ${JSON.stringify(objects)}`,
    },
    {
      name: 'not-the-reconciler',
      expression: `request.userInfo.username != ${JSON.stringify(input.trustedUser)}`,
    },
    {
      name: 'not-cleaning-up',
      expression: `!(${cleaningUp.join(' || ')})`,
    },
    ...('injection' in input.trust && !input.trust.isInjected
      ? [{ name: 'authorities-are-injected', expression: 'false' }]
      : []),
  ]
}

/**
 * What the entry that sees a write last has to judge: what was changed of all that may be managed, be it by a webhook after ours alone.
 * By then the API server has set the generation, which of a custom resource counts every change but those of metadata and status. Of
 * its own kinds it counts some changes or none (a PriorityClass always has generation 1), or keeps what a client made up.
 */
function contentChanged(input: RegistrationInput) {
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
