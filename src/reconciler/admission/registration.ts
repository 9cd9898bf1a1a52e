import type { Client } from '../../shared/cluster/client.ts'
import type { RecordEvent } from '../../shared/cluster/events.ts'
import type { Store } from '../../shared/cluster/store.ts'
import type { Identity } from '../../shared/engine/identity.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import {
  hostsOf,
  type WebhookEndpoint,
  type WebhookTrust,
  webhookConfigurations,
} from '../../shared/engine/webhook-configuration.ts'
import { certificatesIn } from '../../shared/ops/pem.ts'
import { CertificateRotator } from './certificate-rotator.ts'
import {
  decideRegistration,
  type RegistrationDecision,
  type RegistrationMemory,
  type Wanted,
  type WebhookWish,
} from './decide-registration.ts'
import { OwnerRole } from './owner-role.ts'
import type { TrustSource } from './trust-source.ts'
import {
  applyBundle,
  applyConfiguration,
  bundleOf,
  CONFIGURATION_KINDS,
  type ConfigurationKind,
  isTrustedBy,
  removeConfiguration,
} from './webhook-configurations.ts'

export interface RegistrationOptions {
  readonly client: Client
  readonly identity: Identity
  /** Which configurations the system may have: it need not be able to read others; by default both. */
  readonly kinds?: readonly ConfigurationKind[]
  readonly namespace: string
  readonly endpoint: WebhookEndpoint
  readonly failurePolicy: 'Ignore' | 'Fail'
  readonly timeoutS: number
  /** Asked before each write. */
  readonly isLeader: () => boolean
  readonly trustSource: TrustSource
  /** Told, in epoch milliseconds, when the last of the authorities that are trusted ends. */
  readonly onTrusted: (expiry: number) => void
  /** Where our webhook configurations are followed, each under its kind. */
  readonly store: Store
  readonly record: RecordEvent
  readonly now: () => number
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime: () => number
  /** What is kept for the next leader, which cannot see it: somebody may delete a configuration while nobody leads. */
  readonly ledger: RegistrationLedger
}

/** Where a leader keeps what it knows of each configuration, by its kind; see RegistrationMemory. */
export interface RegistrationLedger {
  readonly memory: {
    readonly registered: Readonly<Record<string, string>>
    readonly unregistered: Readonly<Record<string, number>>
  }
  readonly note: (part: RegistrationLedger['memory']) => void
}

// Clocks jump and files change without a word.
const LONGEST_WAIT_MS = 5 * 60_000

// Somebody who uninstalls us does not bring the owner back, somebody who installs us anew does within moments.
const OWNER_WAIT_MS = 10_000

/** Keeps the webhook's certificates and its registration with the API server in place, as the leader does. */
export class WebhookRegistration {
  readonly #options: RegistrationOptions
  readonly #kinds: readonly ConfigurationKind[]
  readonly #owner: OwnerRole
  readonly #rotator: CertificateRotator

  constructor(options: RegistrationOptions) {
    this.#options = options
    const { client, identity, store, kinds = CONFIGURATION_KINDS } = options
    this.#kinds = kinds
    this.#owner = new OwnerRole(client, identity.reconcilerRole)
    this.#rotator = new CertificateRotator({
      ...options,
      hosts: hostsOf(options.endpoint),
      requireLease: () => this.#requireLease(),
      registered: () => (store.isSynced(kinds) ? this.#registered() : undefined),
    })
  }

  /** Takes over from an earlier leader: what was known of another leadership is known no more. */
  resume(): void {
    this.#rotator.resume()
  }

  /** Takes in that a source changed; whether it is one of ours. */
  noteChange(source: string): boolean {
    const { authoritySecret, servingSecret } = this.#options.identity
    const isSecret = source === authoritySecret || source === servingSecret
    if (isSecret) this.#rotator.reread()
    return isSecret || this.#kinds.some((kind) => kind === source)
  }

  /** Does what is due now. Returns after how many milliseconds something may be due again. */
  async reconcile(wish: WebhookWish): Promise<number> {
    this.#owner.age()
    // Nothing must be in the way of being rid of us, least of all a certificate that cannot be had.
    if (wish.kind === 'off') await this.#each((kind) => this.#deregister(kind))
    // Even where nothing is to be registered: the webhook is ready once it has a certificate.
    const isOwn = this.#options.trustSource.kind === 'own'
    const rotated = isOwn ? await this.#rotator.rotate() : undefined
    const own = rotated?.bundle
    if (wish.kind === 'on') await this.#each((kind) => this.#register(kind, wish, own))
    if (wish.kind === 'unknown') await this.#each((kind) => this.#keepTrusted(kind, own))
    this.#tellExpiry(own ?? this.#registered().join(''))
    const longest = this.#owner.isGone ? OWNER_WAIT_MS : LONGEST_WAIT_MS
    return Math.max(1_000, Math.min(rotated?.dueInMs ?? longest, longest))
  }

  async #each(work: (kind: ConfigurationKind) => Promise<void>): Promise<void> {
    for (const kind of this.#kinds) await work(kind)
  }

  #tellExpiry(bundle: string): void {
    const ends = certificatesIn(bundle).map(({ validTo }) => Date.parse(validTo))
    if (ends.length > 0) this.#options.onTrusted(Math.max(...ends))
  }

  #live(kind: ConfigurationKind): KubeObject | undefined {
    return this.#options.store.object(kind)
  }

  /** The bundles of the configurations that there are, PEM. */
  #registered(): readonly string[] {
    return this.#kinds.flatMap((kind) => bundleOf(this.#live(kind)) ?? [])
  }

  #requireLease(): void {
    if (!this.#options.isLeader()) throw new Error('the Lease is no longer ours')
  }

  #trust(kind: ConfigurationKind, own: string | undefined): WebhookTrust {
    const { trustSource } = this.#options
    if (trustSource.kind === 'file') return { bundle: trustSource.read() }
    if (trustSource.kind === 'own') return { bundle: own ?? '' }
    const live = this.#live(kind)
    const injection = trustSource.annotations
    // What is there before the injector was asked for is ours, and goes with our next apply.
    const isAskedFor = Object.entries(injection).every(
      ([key, value]) => live?.metadata.annotations?.[key] === value,
    )
    return { injection, isInjected: isAskedFor && Boolean(bundleOf(live)) }
  }

  /** Has what is registered follow our authorities; an injector follows its own. */
  async #keepTrusted(kind: ConfigurationKind, own: string | undefined): Promise<void> {
    const { client, identity } = this.#options
    const live = this.#live(kind)
    const trust = live && this.#trust(kind, own)
    if (!trust || !('bundle' in trust)) return
    if (isTrustedBy(live, identity.webhookDomain, trust.bundle)) return
    this.#requireLease()
    await applyBundle(client, live, identity.webhookDomain, trust.bundle)
  }

  async #deregister(kind: ConfigurationKind): Promise<void> {
    const { store, client, identity } = this.#options
    if (!store.isSynced([kind]) || this.#decide(kind, undefined, undefined).step !== 'delete')
      return
    this.#requireLease()
    await removeConfiguration(client, kind, identity.webhookConfiguration)
  }

  async #register(kind: ConfigurationKind, wish: Wanted, own: string | undefined): Promise<void> {
    const { store, record, client, identity } = this.#options
    if (!store.isSynced([kind])) return
    const trust = this.#trust(kind, own)
    const owner = await this.#ownerOf(kind)
    const ownerUid = this.#owner.isGone ? undefined : (owner?.metadata.uid ?? '')
    const before = this.#memoryOf(kind)
    const decision = this.#decide(kind, this.#configuration(kind, wish, trust, owner), ownerUid)
    if (before.missingSince === undefined && decision.missingSince !== undefined) {
      const note = `somebody deleted the ${kind} ${identity.webhookConfiguration}: writes pass unjudged; it comes back in 10 minutes`
      record({ subject: wish.subject, type: 'Warning', reason: 'WebhookUnregistered', note })
    }
    if (decision.step !== 'apply') return
    const wanted = this.#configuration(kind, wish, trust, await this.#owner.fresh())
    // What has no owner any more would be collected as soon as it is written, again and again.
    if (!wanted || this.#owner.isGone) return
    this.#requireLease()
    await applyConfiguration(client, wanted)
  }

  #decide(
    kind: ConfigurationKind,
    wanted: KubeObject | undefined,
    ownerUid: string | undefined,
  ): RegistrationDecision {
    const { ledger, now, identity } = this.#options
    const decision = decideRegistration({
      ...this.#memoryOf(kind),
      wanted,
      live: this.#live(kind),
      ownerName: identity.reconcilerRole,
      ownerUid,
      now: now(),
    })
    const { registered, unregistered } = ledger.memory
    ledger.note({
      registered: withMember(registered, kind, decision.registered),
      unregistered: withMember(unregistered, kind, decision.missingSince),
    })
    return decision
  }

  #memoryOf(kind: ConfigurationKind): RegistrationMemory {
    const { registered, unregistered } = this.#options.ledger.memory
    return { registered: registered[kind], missingSince: unregistered[kind] }
  }

  /** The owner, as fresh as it must be to tell the garbage collector from somebody who breaks the glass. */
  #ownerOf(kind: ConfigurationKind): Promise<KubeObject | undefined> {
    const { registered, missingSince } = this.#memoryOf(kind)
    const isToTell = !this.#live(kind) && registered !== undefined && missingSince === undefined
    return isToTell ? this.#owner.fresh() : this.#owner.known()
  }

  #configuration(
    kind: ConfigurationKind,
    { scopes }: Wanted,
    trust: WebhookTrust,
    owner: KubeObject | undefined,
  ): KubeObject | undefined {
    return webhookConfigurations({ ...this.#options, trust, owner }, scopes).find(
      (configuration) => configuration.kind === kind,
    )
  }
}

const withMember = <Value>(
  all: Readonly<Record<string, Value>>,
  name: string,
  value: Value | undefined,
): Readonly<Record<string, Value>> => {
  const { [name]: _before, ...others } = all
  return value === undefined ? others : { ...others, [name]: value }
}
