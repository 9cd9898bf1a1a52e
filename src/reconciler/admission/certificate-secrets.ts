import type { Client } from '../../shared/cluster/client.ts'
import { apply, read } from '../../shared/cluster/resource.ts'
import { isMap, type KubeObject } from '../../shared/engine/json/object.ts'
import type { Certificates, StoredCertificates } from './certificates.ts'

/** Our Secrets as they were read or written last; undefined where there is none. */
export interface Secrets {
  readonly authority: KubeObject | undefined
  readonly serving: KubeObject | undefined
}

/** What the Secrets are called, and where they are. */
export interface SecretNames {
  readonly namespace: string
  readonly authority: string
  readonly serving: string
}

/** Reads both Secrets. */
export async function readSecrets(client: Client, names: SecretNames): Promise<Secrets> {
  const at = secretsIn(names.namespace)
  const [authority, serving] = await Promise.all([
    read(client, at, names.authority),
    read(client, at, names.serving),
  ])
  return { authority, serving }
}

/** The certificates that the Secrets hold; what is missing or incomplete is left out. */
export function storedIn(secrets: Secrets): StoredCertificates {
  const serving = decode(secrets.serving)
  const bundle = serving?.['ca.crt']
  return {
    ...pair('authority', decode(secrets.authority)),
    ...pair('serving', serving),
    ...(bundle !== undefined && { bundle }),
  }
}

type Texts = Readonly<Record<string, string>>

function pair(member: 'authority' | 'serving', secret: Texts = {}): StoredCertificates {
  const { 'tls.crt': certificate, 'tls.key': key } = secret
  return certificate === undefined || key === undefined ? {} : { [member]: { certificate, key } }
}

/**
 * Stores the certificates, and gives the Secrets as they are then. What already holds them is not written. What was read is
 * written only as it was read, since the decision rests on that: ApiError 409 says that somebody changed or deleted it. What was
 * not there cannot be guarded so: of two leaders the Lease, which is asked for before each write, keeps one away.
 * The authority's key has a Secret of its own, which the webhook cannot read: whoever takes the webhook over cannot
 * issue certificates.
 */
export async function writeSecrets(
  client: Client,
  names: SecretNames,
  { authority, serving, bundle }: Certificates,
  { before, requireLease }: { readonly before: Secrets; readonly requireLease: () => void },
): Promise<Secrets> {
  const { namespace } = names
  const write = (name: string, stored: KubeObject | undefined, texts: Texts) => {
    if (holds(stored, texts)) return stored
    requireLease()
    return apply(client, secretsIn(namespace), secretOf({ name, namespace }, texts, stored))
  }
  // The bundle first: an authority that it does not hold would be taken for a broken one.
  const servingSecret = await write(names.serving, before.serving, {
    'tls.crt': serving.certificate,
    'tls.key': serving.key,
    'ca.crt': bundle,
  })
  const authoritySecret = await write(names.authority, before.authority, {
    'tls.crt': authority.certificate,
    'tls.key': authority.key,
  })
  return { serving: servingSecret, authority: authoritySecret }
}

const secretsIn = (namespace: string) => ({ apiVersion: 'v1', resource: 'secrets', namespace })

function holds(secret: KubeObject | undefined, texts: Texts): boolean {
  const held = decode(secret)
  return held !== undefined && Object.entries(texts).every(([key, text]) => held[key] === text)
}

const secretOf = (
  place: { readonly name: string; readonly namespace: string },
  texts: Texts,
  before: KubeObject | undefined,
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  // It cannot be changed, and we may not delete a Secret that somebody made of another type.
  type: before?.type ?? 'kubernetes.io/tls',
  metadata: {
    ...place,
    ...(before && { uid: before.metadata.uid, resourceVersion: before.metadata.resourceVersion }),
  },
  data: Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  ),
})

function decode(secret: KubeObject | undefined): Texts | undefined {
  const data = secret?.data
  if (!isMap(data)) return undefined
  const entries = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(String(value), 'base64').toString(),
  ])
  return Object.fromEntries(entries)
}
