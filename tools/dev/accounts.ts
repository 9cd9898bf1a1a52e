import { join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'

import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import { accounts } from '../../src/shared/baseline/generated/rbac.ts'
import type { Client } from '../../src/shared/cluster/client.ts'
import { apply, pathOf } from '../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import { writeSecret } from '../control-plane/data-dir.ts'

/** Creates our namespace, and in it the accounts of both processes with their generated roles. */
export async function createAccounts(
  client: Client,
  catalog: Catalog,
  namespace: string,
): Promise<void> {
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  for (const object of [own, ...accounts(catalog, namespace)]) await applyRegular(client, object)
}

// All of these kinds are named regularly, so that nothing has to be discovered.
const applyRegular = (client: Client, { apiVersion, kind, metadata, ...rest }: KubeObject) =>
  apply(
    client,
    {
      apiVersion,
      resource: `${kind.toLowerCase()}s`,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    },
    { apiVersion, kind, metadata, ...rest },
    { fieldManager: 'virt-platform-autopilot-dev' },
  )

export interface AccountKubeconfig {
  /** The administrator's, which may create tokens. */
  readonly client: Client
  readonly kubeconfig: KubeConfig
  readonly namespace: string
  readonly folder: string
}

// Until somebody ends the session: nothing renews the token of a kubeconfig file.
const TOKEN_SECONDS = 30 * 24 * 3600

/** Writes a kubeconfig on a token of the ServiceAccount, for the same cluster; returns its path. */
export async function writeAccountKubeconfig(
  { client, kubeconfig, namespace, folder }: AccountKubeconfig,
  account: string,
): Promise<string> {
  const at = pathOf({ apiVersion: 'v1', resource: 'serviceaccounts', namespace }, account)
  const { body } = await client.send(`${at}/token`, {
    method: 'POST',
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS },
    },
  })
  const { token } = (body as { status: { token: string } }).status
  const file = join(folder, `kubeconfig-${account}`)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'cluster',
        cluster: clusterEntry(kubeconfig),
      },
    ],
    users: [{ name: account, user: { token } }],
    contexts: [{ name: account, context: { cluster: 'cluster', user: account } }],
    'current-context': account,
  }
  writeSecret(file, JSON.stringify(config, null, 2))
  return file
}

function clusterEntry(kubeconfig: KubeConfig) {
  const { server, caData, caFile, skipTLSVerify, proxyUrl } = kubeconfig.getCurrentCluster() ?? {}
  const entry = {
    server,
    'certificate-authority-data': caData,
    'certificate-authority': caFile,
    'insecure-skip-tls-verify': skipTLSVerify || undefined,
    'proxy-url': proxyUrl,
  }
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined))
}
