import { AUTHORITY_SECRET, SERVING_SECRET } from '../shared/catalog/names.ts'
import type { Client } from '../shared/cluster/client.ts'
import { apply, read } from '../shared/cluster/resource.ts'
import { isMap, type KubeObject } from '../shared/engine/object.ts'
import type { Certificates, StoredCertificates } from './certificates.ts'

/** Reads the certificates back from their Secrets; what is missing or incomplete is left out. */
export async function readCertificates(
  client: Client,
  namespace: string,
): Promise<StoredCertificates> {
  const at = secretsIn(namespace)
  const [authority, serving] = await Promise.all(
    [AUTHORITY_SECRET, SERVING_SECRET].map(async (name) => decode(await read(client, at, name))),
  )
  const bundle = serving?.['ca.crt']
  return {
    ...pair('authority', authority),
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
 * Stores the certificates. The authority's key has a Secret of its own, which the webhook cannot read:
 * whoever takes the webhook over cannot issue certificates.
 */
export async function writeCertificates(
  client: Client,
  namespace: string,
  certificates: Certificates,
) {
  const { authority, serving, bundle } = certificates
  // The bundle first: an authority that it does not hold would be taken for a broken one.
  await applySecret(client, namespace, SERVING_SECRET, {
    'tls.crt': serving.certificate,
    'tls.key': serving.key,
    'ca.crt': bundle,
  })
  await applySecret(client, namespace, AUTHORITY_SECRET, {
    'tls.crt': authority.certificate,
    'tls.key': authority.key,
  })
}

const secretsIn = (namespace: string) => ({ apiVersion: 'v1', resource: 'secrets', namespace })

async function applySecret(client: Client, namespace: string, name: string, data: Texts) {
  const at = secretsIn(namespace)
  // The type of a Secret cannot be changed, and we may not delete one that somebody made of another.
  const type = (await read(client, at, name))?.type ?? 'kubernetes.io/tls'
  await apply(client, at, {
    apiVersion: 'v1',
    kind: 'Secret',
    type,
    metadata: { name, namespace },
    data: Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
  })
}

function decode(secret: KubeObject | undefined): Texts | undefined {
  const data = secret?.data
  if (!isMap(data)) return undefined
  const entries = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(String(value), 'base64').toString(),
  ])
  return Object.fromEntries(entries)
}
