import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { isMap, type KubeObject } from '../../shared/engine/json/object.ts'
import { certificatesIn, isSignedByOne, servableIn } from '../../shared/ops/pem.ts'

/** PEM of the webhook's own certificate and key. */
export interface ServingCertificate {
  readonly key: string
  readonly cert: string
}

/**
 * Reads the certificate out of our Secret. Throws where it is none that a registration could trust: a part is
 * missing, the key is another's, or none of the authorities beside it signed it.
 */
export function servingCertificateIn(secret: KubeObject | undefined): ServingCertificate {
  const data = isMap(secret?.data) ? secret.data : {}
  const [key = '', cert = '', bundle = ''] = ['tls.key', 'tls.crt', 'ca.crt'].map((name) =>
    Buffer.from(String(data[name] ?? ''), 'base64').toString(),
  )
  if (!secret) throw new Error('the Secret is gone')
  if (!isSignedByOne(servableIn(cert, key), certificatesIn(bundle)))
    throw new Error('no authority in ca.crt signed tls.crt')
  return { key, cert }
}

export interface FollowOptions {
  /** Throws where the certificate cannot be used. */
  readonly onChange: (certificate: ServingCertificate) => void
  /** Told once, until the files change or are well again. */
  readonly onTrouble: (error: Error) => void
  readonly signal: AbortSignal
}

// A mounted Secret is swapped by a symlink, which a file watch can miss; polling cannot.
const POLL_MS = 10_000

/** Follows tls.crt and tls.key of a folder, which cert-manager or the service CA writes. */
export function followFiles(folder: string, { onChange, onTrouble, signal }: FollowOptions): void {
  let current = ''
  let told = ''
  const look = () => {
    try {
      const [key = '', cert = ''] = ['tls.key', 'tls.crt'].map((name) =>
        readFileSync(join(folder, name), 'utf8'),
      )
      if (current !== key + cert) onChange({ key, cert })
      current = key + cert
      told = ''
    } catch (error) {
      const { message } = error as Error
      if (told !== message) onTrouble(error as Error)
      told = message
    }
  }
  look()
  const timer = setInterval(look, POLL_MS)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
