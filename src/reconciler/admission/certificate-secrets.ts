import type { Client } from '../../shared/cluster/client.ts'
import { apply, read } from '../../shared/cluster/resource.ts'
import type { Identity } from '../../shared/engine/identity.ts'
import { isMap, type KubeObject, mapMembers } from '../../shared/engine/json/object.ts'
import type { Certificates, StoredCertificates } from './certificates.ts'
import type { KeyedCertificate } from './issuance.ts'

/** Our Secrets as they were read or written last; undefined where there is none. */
export interface Secrets {
  readonly authority: KubeObject | undefined
  readonly serving: KubeObject | undefined
}

/** Where the Secrets are, and whose. */
export interface SecretPlace {
  readonly namespace: string
  readonly identity: Identity
}

const nameOf = (member: keyof Secrets, { identity }: SecretPlace) =>
  member === 'authority' ? identity.authoritySecret : identity.servingSecret

/** Reads both Secrets. */
export async function readSecrets(client: Client, place: SecretPlace): Promise<Secrets> {
  const at = secretsIn(place.namespace)
  const [authority, serving] = await Promise.all([
    read(client, at, nameOf('authority', place)),
    read(client, at, nameOf('serving', place)),
  ])
  return { authority, serving }
}

/** The certificates that the Secrets hold; what is missing or incomplete is left out. */
export function storedIn({ authority, serving }: Secrets): StoredCertificates {
  const { 'ca.crt': bundle } = decode(serving)
  return {
    ...pair('authority', authority),
    ...pair('serving', serving),
    ...(bundle !== undefined && { bundle }),
  }
}

type Texts = Readonly<Record<string, string>>

function pair(member: keyof Secrets, secret: KubeObject | undefined): StoredCertificates {
  const { 'tls.crt': certificate, 'tls.key': key } = decode(secret)
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
  place: SecretPlace,
  { authority, serving, bundle }: Certificates,
  before: Secrets,
  requireLease: () => void,
): Promise<Secrets> {
  const write = (member: keyof Secrets, texts: Texts) => {
    const stored = before[member]
    const held = decode(stored)
    if (Object.entries(texts).every(([key, text]) => held[key] === text)) return stored
    requireLease()
    const { namespace } = place
    const at = { name: nameOf(member, place), namespace }
    return apply(client, secretsIn(namespace), secretOf(at, texts, stored))
  }
  const pairOf = ({ certificate, key }: KeyedCertificate) => ({
    'tls.crt': certificate,
    'tls.key': key,
  })
  // The bundle first: an authority that it does not hold would be taken for a broken one.
  const written = await write('serving', { ...pairOf(serving), 'ca.crt': bundle })
  return { serving: written, authority: await write('authority', pairOf(authority)) }
}

const secretsIn = (namespace: string) => ({ apiVersion: 'v1', resource: 'secrets', namespace })

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
  data: mapMembers(texts, (text) => Buffer.from(text).toString('base64')),
})

/** The texts that a Secret holds; none where there is no Secret. */
function decode(secret: KubeObject | undefined): Texts {
  const data = isMap(secret?.data) ? secret.data : {}
  return mapMembers(data, (value) => Buffer.from(String(value), 'base64').toString())
}
