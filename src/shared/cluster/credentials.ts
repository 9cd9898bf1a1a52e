import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'

/** Who we are to the API server, and whom we trust: TLS for connections, headers for each request. */
export interface Credentials {
  readonly tls: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

/** Creates a reader of what a kubeconfig's user has to show. A token file is read each time: only a clock, which jumps, tells its age. */
export function createCredentials(kubeConfig: KubeConfig): () => Promise<Credentials> {
  const file: string | undefined = kubeConfig.getCurrentUser()?.authProvider?.config?.tokenFile
  if (file === undefined) return () => credentialsOf(kubeConfig)
  const others = withoutTokenFile(kubeConfig)
  return async () => {
    const { tls, headers } = await credentialsOf(others)
    return { tls, headers: { ...headers, authorization: `Bearer ${await readToken(file)}` } }
  }
}

function withoutTokenFile({ clusters, contexts, users, currentContext }: KubeConfig): KubeConfig {
  const others = new KubeConfig()
  const withoutProvider = users.map(({ authProvider: _given, token: _older, ...user }) => user)
  others.loadFromOptions({ clusters, contexts, users: withoutProvider, currentContext })
  return others
}

async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new Error(`reading the token of the API server's user: ${cause.message}`, { cause })
  })
  return text.trim()
}

async function credentialsOf(kubeConfig: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {}
  await kubeConfig.applyToHTTPSOptions(options)
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername, headers, auth } = options
  const given = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }
  const tls = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return {
    tls,
    headers: {
      ...(headers as Record<string, string> | undefined),
      ...(auth && { authorization: `Basic ${btoa(auth)}` }),
    },
  }
}
