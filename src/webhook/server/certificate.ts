import { readFileSync } from 'node:fs'
import type { Server } from 'node:https'
import { join } from 'node:path'

import type { Client } from '../../shared/cluster/client.ts'
import { Store } from '../../shared/cluster/store.ts'
import { isMap, type KubeObject } from '../../shared/engine/json/object.ts'
import type { Log, TroubleTeller } from '../../shared/ops/log.ts'
import { certificatesIn, isSignedByOne, servableIn } from '../../shared/ops/pem.ts'

/** PEM of the webhook's own certificate and key. */
interface ServingCertificate {
  readonly key: string
  readonly cert: string
}

/**
 * Reads the certificate out of our Secret. Throws where it is none that a registration could trust: a part is
 * missing, the key is another's, or none of the authorities beside it signed it.
 */
function servingCertificateIn(secret: KubeObject | undefined): ServingCertificate {
  const data = isMap(secret?.data) ? secret.data : {}
  const [key = '', cert = '', bundle = ''] = ['tls.key', 'tls.crt', 'ca.crt'].map((name) =>
    Buffer.from(String(data[name] ?? ''), 'base64').toString(),
  )
  if (!secret) throw new Error('the Secret is gone')
  if (!isSignedByOne(servableIn(cert, key), certificatesIn(bundle)))
    throw new Error('no authority in ca.crt signed tls.crt')
  return { key, cert }
}

/** Where the serving certificate comes from: a Secret, or a folder with tls.crt and tls.key. */
export type CertificateSource =
  | { readonly mode: 'secret'; readonly namespace: string; readonly name: string }
  | { readonly mode: 'files'; readonly folder: string }

export interface CertificateOptions {
  readonly server: Server
  readonly source: CertificateSource
  /** PEM of the authorities that callers must have a certificate of. */
  readonly clientCa: string | undefined
  readonly client: Client
  readonly log: Log
  readonly tell: TroubleTeller
  /** Told when the certificate in use ends, in seconds since 1970. */
  readonly onExpiry: (seconds: number) => void
  readonly signal: AbortSignal
}

/** Keeps a server's certificate as its source has it. Returns whether there is one; one that cannot be used changes nothing. */
export function followCertificate(options: CertificateOptions): () => boolean {
  const { server, source, clientCa, client, log, tell, onExpiry, signal } = options
  let inUse: ServingCertificate | undefined
  const use = ({ key, cert }: ServingCertificate) => {
    if (inUse?.key === key && inUse.cert === cert) return
    const { validTo } = servableIn(cert, key)
    // The context is replaced whole: without the authorities, Node's own would be asked for.
    const ca = clientCa && { ca: clientCa }
    server.setSecureContext({ key, cert, minVersion: 'TLSv1.2', ...ca })
    onExpiry(Date.parse(validTo) / 1000)
    inUse = { key, cert }
    log.info({ validTo }, 'serving certificate loaded')
  }
  /** Takes the certificate that was read, or says what is wrong with it, once until that is another or over. */
  let told = ''
  const tryToUse = (read: () => ServingCertificate) => {
    try {
      use(read())
      told = ''
    } catch (error) {
      const { message } = error as Error
      const stays = inUse ? '; the one in use stays' : ''
      if (told !== message) tell(`the serving certificate is not usable${stays}`, error as Error)
      told = message
    }
  }
  if (source.mode === 'files') {
    const look = () => tryToUse(() => certificateIn(source.folder))
    look()
    const timer = setInterval(look, POLL_MS)
    signal.addEventListener('abort', () => clearInterval(timer))
    return () => inUse !== undefined
  }
  const { namespace, name } = source
  const store = new Store({
    client,
    onTrouble: (id, error) => tell(`cannot read the ${id}; trying again`, error),
    onChange: (id) => {
      const secret = store.object(id)
      // The leader has yet to make the first.
      if (secret || inUse) tryToUse(() => servingCertificateIn(secret))
    },
  })
  store.follow('certificate', [
    { id: 'certificate', at: { apiVersion: 'v1', resource: 'secrets', namespace }, name },
  ])
  signal.addEventListener('abort', () => store.stop())
  return () => inUse !== undefined
}

// A mounted Secret is swapped by a symlink, which a file watch can miss; polling cannot.
const POLL_MS = 10_000

function certificateIn(folder: string): ServingCertificate {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return { key: read('tls.key'), cert: read('tls.crt') }
}
