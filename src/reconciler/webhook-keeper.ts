import type { Catalog } from '../shared/catalog/catalog.ts'
import type { Facts } from '../shared/catalog/facts.ts'
import { RECONCILER_ROLE, WEBHOOK_CONFIGURATION } from '../shared/catalog/names.ts'
import { type WebhookEndpoint, webhookConfigurations } from '../shared/catalog/webhook-rules.ts'
import type { Client } from '../shared/cluster/client.ts'
import type { RecordEvent } from '../shared/cluster/events.ts'
import { read } from '../shared/cluster/resource.ts'
import type { WatchSet } from '../shared/cluster/watch-set.ts'
import type { KubeObject } from '../shared/engine/object.ts'
import { readCertificates, writeCertificates } from './certificate-secrets.ts'
import { type Certificates, nextRenewal, renewCertificates } from './certificates.ts'
import {
  applyConfiguration,
  CONFIGURATION_KINDS,
  type ConfigurationKind,
  registrationStep,
  removeConfiguration,
} from './registration.ts'

export interface WebhookKeeperOptions {
  readonly client: Client
  readonly catalog: Catalog
  readonly namespace: string
  readonly endpoint: WebhookEndpoint
  readonly failurePolicy: 'Ignore' | 'Fail'
  readonly trustedUser: string
  /** Asked before each write. */
  readonly isLeader: () => boolean
  /** PEM of the authorities to register, where somebody else makes the certificates. */
  readonly readBundle: (() => string) | undefined
  /** Where our webhook configurations are followed. */
  readonly watches: WatchSet
  readonly record: RecordEvent
  readonly now: () => number
}

/** What the registration follows from; undefined facts mean that the product is off. */
export interface WebhookWish {
  readonly facts: Facts | undefined
  readonly hco: KubeObject
}

// Clocks jump and files change without a word.
const LONGEST_WAIT_MS = 5 * 60_000

/** Keeps the webhook's certificates and its registration with the API server in place, as the leader does. */
export class WebhookKeeper {
  readonly #options: WebhookKeeperOptions
  readonly #missingSince = new Map<ConfigurationKind, number>()
  readonly #everSeen = new Set<ConfigurationKind>()
  #certificates: Certificates | undefined
  #owner: Promise<KubeObject | undefined> | undefined

  constructor(options: WebhookKeeperOptions) {
    this.#options = options
  }

  /** Forgets what another leader may have changed. */
  reset(): void {
    this.#certificates = undefined
    this.#owner = undefined
  }

  /** Does what is due now. Returns after how many milliseconds something may be due again. */
  async keep(wish: WebhookWish): Promise<number> {
    const { readBundle, now } = this.#options
    const certificates = readBundle ? undefined : await this.#keepCertificates()
    const bundle = certificates?.bundle ?? readBundle?.() ?? ''
    for (const kind of CONFIGURATION_KINDS) await this.#register(kind, wish, bundle)
    const untilDue = certificates ? nextRenewal(certificates) - now() : LONGEST_WAIT_MS
    return Math.max(1_000, Math.min(untilDue, LONGEST_WAIT_MS))
  }

  async #keepCertificates(): Promise<Certificates> {
    const { client, namespace, now } = this.#options
    const existing = this.#certificates ?? (await readCertificates(client, namespace))
    const certificates = await renewCertificates(existing, this.#hosts(), now())
    if (certificates !== existing) {
      this.#requireLease()
      await writeCertificates(client, namespace, certificates)
    }
    this.#certificates = certificates
    return certificates
  }

  #requireLease(): void {
    if (!this.#options.isLeader()) throw new Error('the Lease is no longer ours')
  }

  #hosts(): readonly string[] {
    const { endpoint } = this.#options
    if ('url' in endpoint) return [new URL(endpoint.url).hostname.replace(/^\[|\]$/g, '')]
    const { name, namespace } = endpoint.service
    return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`]
  }

  async #register(
    kind: ConfigurationKind,
    { facts, hco }: WebhookWish,
    bundle: string,
  ): Promise<void> {
    const { watches, client, now } = this.#options
    if (!watches.isSynced([kind])) return
    const live = watches.object(kind)
    const wanted = facts && (await this.#configuration(kind, facts, bundle))
    const missingSince = this.#noteMissing(kind, live !== undefined, wanted !== undefined, hco)
    const step = registrationStep({ wanted, live, missingSince, now: now() })
    if (step === 'apply' || step === 'delete') this.#requireLease()
    if (step === 'apply' && wanted) await applyConfiguration(client, wanted)
    if (step === 'delete') await removeConfiguration(client, kind)
  }

  /** Since when the configuration is away although we neither took it away nor have yet to make it. */
  #noteMissing(
    kind: ConfigurationKind,
    isThere: boolean,
    isWanted: boolean,
    hco: KubeObject,
  ): number | undefined {
    const { now, record } = this.#options
    if (isThere && isWanted) this.#everSeen.add(kind)
    if (!isWanted) this.#everSeen.delete(kind)
    if (isThere || !this.#everSeen.has(kind)) {
      this.#missingSince.delete(kind)
      return undefined
    }
    const since = this.#missingSince.get(kind)
    if (since !== undefined) return since
    const note = `somebody deleted the ${kind} ${WEBHOOK_CONFIGURATION}: writes pass unjudged; it comes back in 10 minutes`
    record({ subject: hco, type: 'Warning', reason: 'WebhookUnregistered', note })
    this.#missingSince.set(kind, now())
    return now()
  }

  async #configuration(kind: ConfigurationKind, facts: Facts, bundle: string) {
    const { client, catalog, endpoint, failurePolicy, trustedUser } = this.#options
    const roles = { apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterroles' }
    this.#owner ??= read(client, roles, RECONCILER_ROLE)
    const owner = await this.#owner.catch((error: Error) => {
      this.#owner = undefined
      throw error
    })
    const input = { catalog, facts, endpoint, bundle, failurePolicy, trustedUser, owner }
    return webhookConfigurations(input).find((configuration) => configuration.kind === kind)
  }
}
