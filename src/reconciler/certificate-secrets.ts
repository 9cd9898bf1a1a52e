import { AUTHORITY_SECRET, SERVING_SECRET } from '../shared/catalog/names.ts'
import type { Client } from '../shared/cluster/client.ts'
import { apply, read } from '../shared/cluster/resource.ts'
import { isMap, type KubeObject } from '../shared/engine/object.ts'
import type { Certificates } from './certificates.ts'

/** Reads the certificates back from their Secrets; undefined where one is missing or incomplete. */
export async function readCertificates(
  client: Client,
  namespace: string,
): Promise<Certificates | undefined> {
  const at = secretsIn(namespace)
  const [authority, serving] = await Promise.all(
    [AUTHORITY_SECRET, SERVING_SECRET].map(async (name) => decode(await read(client, at, name))),
  )
  const parts = [
    authority?.['tls.crt'],
    authority?.['tls.key'],
    serving?.['tls.crt'],
    serving?.['tls.key'],
    serving?.['ca.crt'],
  ]
  if (parts.some((part) => part === undefined)) return undefined
  const [caCertificate = '', caKey = '', certificate = '', key = '', bundle = ''] = parts
  return {
    authority: { certificate: caCertificate, key: caKey },
    serving: { certificate, key },
    bundle,
  }
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

const applySecret = (
  client: Client,
  namespace: string,
  name: string,
  data: Record<string, string>,
) =>
  apply(client, secretsIn(namespace), {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name, namespace },
    data: Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
  })

function decode(secret: KubeObject | undefined): Readonly<Record<string, string>> | undefined {
  const data = secret?.data
  if (!isMap(data)) return undefined
  const entries = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(String(value), 'base64').toString(),
  ])
  return Object.fromEntries(entries)
}
