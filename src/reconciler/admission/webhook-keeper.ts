import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../shared/baseline/facts/facts.ts'
import {
  type WebhookEndpoint,
  type WebhookTrust,
  webhookConfigurations,
} from '../../shared/baseline/generated/webhook-rules.ts'
import { WEBHOOK_CONFIGURATION } from '../../shared/baseline/names.ts'
import type { Client } from '../../shared/cluster/client.ts'
import type { RecordEvent } from '../../shared/cluster/events.ts'
import type { WatchSet } from '../../shared/cluster/watch-set.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import { certificatesIn } from '../../shared/ops/pem.ts'
import { CRDS } from '../baseline/gather/sources.ts'
import type { Ledger } from '../baseline/ledger.ts'
import {
  decideRegistration,
  type RegistrationDecision,
  type RegistrationMemory,
} from './break-glass.ts'
import { CertificateKeeper } from './certificate-keeper.ts'
import type { Certificates } from './certificates.ts'
import { CONFIGURATION_KINDS, type ConfigurationKind } from './configuration-kinds.ts'
import { applyConfiguration, removeConfiguration } from './registration.ts'
import { RegistrationOwner } from './registration-owner.ts'
import { bundleOf, isTrustedBy, trustBy } from './registration-trust.ts'
import type { TrustSource } from './trust-source.ts'

export interface WebhookKeeperOptions {
  readonly client: Client
  readonly catalog: Catalog
  readonly namespace: string
  readonly endpoint: WebhookEndpoint
  readonly failurePolicy: 'Ignore' | 'Fail'
  readonly timeoutS: number
  readonly trustedUser: string
  /** Asked before each write. */
  readonly isLeader: () => boolean
  readonly trustSource: TrustSource
  /** Told, in epoch milliseconds, when the last of the authorities that are trusted ends. */
  readonly onTrusted: (expiry: number) => void
  /** Where our webhook configurations are followed, and the definitions of custom resources. */
  readonly watches: WatchSet
  readonly record: RecordEvent
  readonly now: () => number
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime: () => number
  /** Where it is kept for the next leader that a configuration is away without our doing. */
  readonly ledger: Ledger
}

/**
 * What the registration follows from. `off` is the product switched off; `unknown` is a cluster without a HyperConverged,
 * or with two: what is registered stays, and goes on being trusted.
 */
export type WebhookWish = OnWish | { readonly kind: 'off' } | { readonly kind: 'unknown' }

interface OnWish {
  readonly kind: 'on'
  readonly facts: Facts
  readonly hco: KubeObject
}

// Clocks jump and files change without a word.
const LONGEST_WAIT_MS = 5 * 60_000

// Somebody who uninstalls us does not bring the owner back, somebody who installs us anew does within moments.
const OWNER_WAIT_MS = 10_000

/** Keeps the webhook's certificates and its registration with the API server in place, as the leader does. */
export class WebhookKeeper {
  readonly #options: WebhookKeeperOptions
  readonly #owner: RegistrationOwner
  readonly #own: CertificateKeeper

  constructor(options: WebhookKeeperOptions) {
    this.#options = options
    this.#owner = new RegistrationOwner(options.client)
    this.#own = new CertificateKeeper({
      ...options,
      hosts: hostsOf(options.endpoint),
      requireLease: () => this.#requireLease(),
      registered: () =>
        options.watches.isSynced(CONFIGURATION_KINDS) ? this.#registered() : undefined,
    })
  }

  /** Takes over from an earlier leader: what was known of another leadership is known no more. */
  resume(): void {
    this.#own.resume()
  }

  /** Takes in that somebody changed a Secret of ours. */
  rereadCertificates(): void {
    this.#own.reread()
  }

  /** Does what is due now. Returns after how many milliseconds something may be due again. */
  async keep(wish: WebhookWish): Promise<number> {
    this.#owner.age()
    // Nothing must be in the way of being rid of us, least of all a certificate that cannot be had.
    if (wish.kind === 'off') await this.#each((kind) => this.#deregister(kind))
    // Without a registration nobody calls the webhook.
    if (wish.kind === 'unknown' && this.#registered().length === 0) return LONGEST_WAIT_MS
    const own = this.#options.trustSource.kind === 'own' ? await this.#own.keep() : undefined
    if (wish.kind === 'on')
      await this.#each((kind) => this.#register(kind, wish, own?.certificates))
    if (wish.kind === 'unknown') await this.#each((kind) => this.#trustBy(kind, own?.certificates))
    this.#tellEnd(own?.certificates.bundle ?? this.#registered().join(''))
    const longest = this.#owner.isGone ? OWNER_WAIT_MS : LONGEST_WAIT_MS
    return Math.max(1_000, Math.min(own?.dueInMs ?? longest, longest))
  }

  async #each(work: (kind: ConfigurationKind) => Promise<void>): Promise<void> {
    for (const kind of CONFIGURATION_KINDS) await work(kind)
  }

  #tellEnd(bundle: string): void {
    const ends = certificatesIn(bundle).map(({ validTo }) => Date.parse(validTo))
    if (ends.length > 0) this.#options.onTrusted(Math.max(...ends))
  }

  /** The bundles of the configurations that there are, PEM. */
  #registered(): readonly string[] {
    const { watches } = this.#options
    return CONFIGURATION_KINDS.flatMap((kind) => bundleOf(watches.object(kind)) ?? [])
  }

  #trust(kind: ConfigurationKind, own: Certificates | undefined): WebhookTrust {
    const { trustSource, watches } = this.#options
    if (trustSource.kind === 'file') return { bundle: trustSource.read() }
    if (trustSource.kind === 'own') return { bundle: own?.bundle ?? '' }
    const live = watches.object(kind)
    const injection = trustSource.annotations
    // What is there before the injector was asked for is ours, and goes with our next apply.
    const isAskedFor = Object.entries(injection).every(
      ([key, value]) => live?.metadata.annotations?.[key] === value,
    )
    return { injection, isInjected: isAskedFor && Boolean(bundleOf(live)) }
  }

  /** Has what is registered follow our authorities; an injector follows its own. */
  async #trustBy(kind: ConfigurationKind, own: Certificates | undefined): Promise<void> {
    const { watches, client } = this.#options
    const live = watches.object(kind)
    const trust = live && this.#trust(kind, own)
    if (!trust || !('bundle' in trust) || isTrustedBy(live, trust.bundle)) return
    this.#requireLease()
    await trustBy(client, live, trust.bundle)
  }

  #requireLease(): void {
    if (!this.#options.isLeader()) throw new Error('the Lease is no longer ours')
  }

  async #deregister(kind: ConfigurationKind): Promise<void> {
    const { watches, client } = this.#options
    if (!watches.isSynced([kind])) return
    const { step } = this.#decide(kind, undefined, undefined)
    if (step !== 'delete') return
    this.#requireLease()
    await removeConfiguration(client, kind)
  }

  async #register(
    kind: ConfigurationKind,
    { facts, hco }: OnWish,
    own: Certificates | undefined,
  ): Promise<void> {
    const { watches, record } = this.#options
    if (!watches.isSynced([kind])) return
    const trust = this.#trust(kind, own)
    const owner = await this.#ownerOf(kind)
    const ownerUid = this.#owner.isGone ? undefined : (owner?.metadata.uid ?? '')
    const wanted = this.#configuration(kind, facts, trust, owner)
    const { missingSince } = this.#memoryOf(kind)
    const decision = this.#decide(kind, wanted, ownerUid)
    if (missingSince === undefined && decision.missingSince !== undefined) {
      const note = `somebody deleted the ${kind} ${WEBHOOK_CONFIGURATION}: writes pass unjudged; it comes back in 10 minutes`
      record({ subject: hco, type: 'Warning', reason: 'WebhookUnregistered', note })
    }
    if (decision.step === 'apply') await this.#apply(kind, facts, trust)
  }

  #decide(
    kind: ConfigurationKind,
    wanted: KubeObject | undefined,
    ownerUid: string | undefined,
  ): RegistrationDecision {
    const { watches, now } = this.#options
    const memory = this.#memoryOf(kind)
    const view = { ...memory, wanted, live: watches.object(kind), ownerUid, now: now() }
    const decision = decideRegistration(view)
    this.#remember(kind, decision)
    return decision
  }

  async #apply(kind: ConfigurationKind, facts: Facts, trust: WebhookTrust): Promise<void> {
    const wanted = this.#configuration(kind, facts, trust, await this.#owner.fresh())
    // What has no owner any more would be collected as soon as it is written, again and again.
    if (!wanted || this.#owner.isGone) return
    this.#requireLease()
    await applyConfiguration(this.#options.client, wanted)
  }

  /** The owner, as fresh as it must be to tell the garbage collector from somebody who breaks the glass. */
  #ownerOf(kind: ConfigurationKind): Promise<KubeObject | undefined> {
    const { registered, missingSince } = this.#memoryOf(kind)
    const isAway = !this.#options.watches.object(kind)
    const isToTell = isAway && registered !== undefined && missingSince === undefined
    return isToTell ? this.#owner.fresh() : this.#owner.known()
  }

  #memoryOf(kind: ConfigurationKind): RegistrationMemory {
    const { registered, unregistered } = this.#options.ledger.memory
    return { registered: registered[kind], missingSince: unregistered[kind] }
  }

  /** Keeps for the next leader what it cannot see: somebody may delete a configuration while nobody leads. */
  #remember(kind: ConfigurationKind, { registered, missingSince }: RegistrationMemory): void {
    const { ledger } = this.#options
    const before = this.#memoryOf(kind)
    if (before.registered === registered && before.missingSince === missingSince) return
    const { memory } = ledger
    ledger.note({
      registered: withMember(memory.registered, kind, registered),
      unregistered: withMember(memory.unregistered, kind, missingSince),
    })
  }

  #configuration(
    kind: ConfigurationKind,
    facts: Facts,
    trust: WebhookTrust,
    owner: KubeObject | undefined,
  ): KubeObject | undefined {
    const { watches } = this.#options
    const customResources = new Set(watches.objects(CRDS).map(({ metadata }) => metadata.name))
    const input = { ...this.#options, facts, customResources, trust, owner }
    return webhookConfigurations(input).find((configuration) => configuration.kind === kind)
  }
}

function hostsOf(endpoint: WebhookEndpoint): readonly string[] {
  if ('url' in endpoint) return [new URL(endpoint.url).hostname.replace(/^\[|\]$/g, '')]
  const { name, namespace } = endpoint.service
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`]
}

function withMember<Value>(
  all: Readonly<Record<string, Value>>,
  name: string,
  value: Value | undefined,
): Readonly<Record<string, Value>> {
  const { [name]: _before, ...others } = all
  return value === undefined ? others : { ...others, [name]: value }
}
