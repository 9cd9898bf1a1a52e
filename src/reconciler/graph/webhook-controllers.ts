import type { Client } from '../../shared/cluster/client.ts'
import type { RecordEvent } from '../../shared/cluster/events.ts'
import { accountUser } from '../../shared/engine/identity.ts'
import type { WebhookEndpoint } from '../../shared/engine/webhook-configuration.ts'
import { GRAPH } from '../../shared/graph/names.ts'
import { webhookScopes } from '../../shared/graph/webhook-scopes.ts'
import type { TroubleTeller } from '../../shared/ops/log.ts'
import type { WebhookWish } from '../admission/decide-registration.ts'
import { WebhookRegistration } from '../admission/registration.ts'
import { RegistrationNotes } from '../admission/registration-notes.ts'
import { type TrustConfig, trustSourceOf } from '../admission/trust-source.ts'
import { registrationSources } from '../admission/webhook-configurations.ts'
import type { Controller, Manager } from '../manager/manager.ts'
import { createStateController, STATE } from '../manager/state-controller.ts'

export interface WebhookControllersConfig extends TrustConfig {
  readonly namespace: string
  readonly endpoint: WebhookEndpoint
  readonly failurePolicy: 'Ignore' | 'Fail'
  readonly webhookTimeoutS: number
}

export interface WebhookControllersDeps {
  readonly client: Client
  readonly manager: Manager
  readonly record: RecordEvent
  readonly tell: TroubleTeller
  /** Told, in epoch milliseconds, when the last of the authorities that are trusted ends. */
  readonly onTrusted: (expiry: number) => void
  readonly signal: AbortSignal
}

const WEBHOOK = 'webhook'
// Nothing is asked of the kind that the API server could change in a request of its own.
const KINDS = ['ValidatingWebhookConfiguration'] as const

/** What keeps the webhook's certificates and its registration, and what the next leader must know of it, which comes first. */
export function createWebhookControllers(
  config: WebhookControllersConfig,
  { client, manager, record, tell, onTrusted, signal }: WebhookControllersDeps,
): readonly Controller[] {
  const { namespace, failurePolicy, webhookTimeoutS } = config
  const { store } = manager
  const ledger = new RegistrationNotes(() => manager.enqueue(STATE))
  const registration = new WebhookRegistration({
    ...config,
    client,
    identity: GRAPH,
    kinds: KINDS,
    timeoutS: webhookTimeoutS,
    ledger,
    store,
    isLeader: () => manager.isLeader(),
    trustSource: trustSourceOf(config, {
      signal,
      onChange: () => manager.enqueue(WEBHOOK),
      onTrouble: (error) => tell('the authorities that were read before stay', error),
    }),
    onTrusted,
    record,
    now: Date.now,
    uptime: () => performance.now(),
  })
  const wish: WebhookWish = {
    kind: 'on',
    scopes: webhookScopes({
      failurePolicy,
      reconciler: accountUser(namespace, GRAPH.reconcilerAccount),
    }),
    subject: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  }
  return [
    createStateController({ client, identity: GRAPH, namespace, store, ledger, tell, signal }),
    {
      name: WEBHOOK,
      sources: registrationSources(GRAPH, namespace, KINDS),
      resync: () => [WEBHOOK],
      keysOf: ({ source }) => (registration.noteChange(source) ? [{ key: WEBHOOK }] : []),
      onElected: async () => registration.resume(),
      reconcile: () => registration.reconcile(wish),
      onError: (_key, error) => tell('the webhook is not registered; trying again', error),
    },
  ]
}
