import { CLEANERS, type Identity } from './identity.ts'
import type { KubeObject } from './json/object.ts'

/** How the API server reaches the webhook. */
export type WebhookEndpoint =
  | { readonly url: string }
  | { readonly service: { readonly name: string; readonly namespace: string } }

/** The names and addresses that the API server reaches the webhook by, for its certificate. */
export function hostsOf(endpoint: WebhookEndpoint): readonly string[] {
  if ('url' in endpoint) return [new URL(endpoint.url).hostname.replace(/^\[|\]$/g, '')]
  const { name, namespace } = endpoint.service
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`]
}

/** The authorities, PEM; or the annotations for who injects them, and whether that was done: until then nobody is asked. */
export type WebhookTrust =
  | { readonly bundle: string }
  | { readonly injection: Readonly<Record<string, string>>; readonly isInjected: boolean }

/** A CEL expression that decides whether the API server asks. */
export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

/** That the one user whose writes are ours is not asked about. */
export const notTheReconciler = (user: string): MatchCondition => ({
  name: 'not-the-reconciler',
  expression: `request.userInfo.username != ${JSON.stringify(user)}`,
})

/** That nobody is asked about what cleans up. */
export function notCleaningUp(failurePolicy: RegistrationInput['failurePolicy']): MatchCondition {
  const byCleaner = `request.userInfo.username in ${JSON.stringify(CLEANERS)}`
  // Where a webhook that is away would refuse it, a finalizer goes all the same; else what ends is judged as long as it is there.
  const cleaningUp =
    failurePolicy === 'Fail'
      ? [`${byCleaner} && request.operation != "CREATE"`, ENDING]
      : [`${byCleaner} && request.operation == "DELETE"`]
  return { name: 'not-cleaning-up', expression: `!(${cleaningUp.join(' || ')})` }
}

const ENDING = 'oldObject != null && has(oldObject.metadata.deletionTimestamp)'

/** What the API server asks one of the two entries about. */
export interface WebhookScope {
  readonly rules: readonly object[]
  readonly matchConditions: readonly MatchCondition[]
}

/** What a system's webhook is to be asked about before a write is judged last, if at all, and then. */
export interface WebhookScopes {
  readonly mutate?: WebhookScope
  readonly validate: WebhookScope
}

export interface RegistrationInput {
  readonly identity: Identity
  readonly endpoint: WebhookEndpoint
  /** Whom the API server trusts the webhook by. */
  readonly trust: WebhookTrust
  readonly failurePolicy: 'Ignore' | 'Fail'
  /** How long the API server waits for each of the two entries, in whole seconds. */
  readonly timeoutS: number
  /** The cluster-scoped object with which the configurations are garbage-collected. */
  readonly owner: KubeObject | undefined
}

/** The webhook configurations of a system, one for each entry that it has. */
export const webhookConfigurations = (
  input: RegistrationInput,
  scopes: WebhookScopes,
): readonly KubeObject[] => [
  ...(scopes.mutate
    ? [
        configuration(input, 'MutatingWebhookConfiguration', {
          ...entry(input, 'mutate', scopes.mutate),
          reinvocationPolicy: 'IfNeeded',
        }),
      ]
    : []),
  configuration(input, 'ValidatingWebhookConfiguration', entry(input, 'validate', scopes.validate)),
]

function entry(
  input: RegistrationInput,
  path: 'mutate' | 'validate',
  { rules, matchConditions }: WebhookScope,
) {
  const { endpoint, failurePolicy, identity, timeoutS, trust } = input
  // Who injects the authorities owns them: what an apply does not state stays.
  const ca = 'bundle' in trust ? { caBundle: btoa(trust.bundle) } : {}
  const clientConfig =
    'url' in endpoint
      ? { url: `${endpoint.url.replace(/\/$/, '')}/${path}`, ...ca }
      : { service: { ...endpoint.service, path: `/${path}`, port: 443 }, ...ca }
  const isUncallable = 'injection' in trust && !trust.isInjected
  return {
    name: `${path}${identity.webhookDomain}`,
    admissionReviewVersions: ['v1'],
    clientConfig,
    failurePolicy,
    matchConditions: isUncallable
      ? [...matchConditions, { name: 'authorities-are-injected', expression: 'false' }]
      : matchConditions,
    matchPolicy: 'Equivalent',
    rules,
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: timeoutS,
  }
}

function configuration(
  { identity, owner, trust }: RegistrationInput,
  kind: string,
  webhook: object,
): KubeObject {
  const ownerReference = owner && {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
  }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: {
      name: identity.webhookConfiguration,
      ...('injection' in trust && { annotations: trust.injection }),
      ...(ownerReference && { ownerReferences: [ownerReference] }),
    },
    webhooks: [webhook],
  }
}
