import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { isMap, type KubeObject } from '../shared/engine/object.ts'

/** PEM of the webhook's own certificate and key. */
export interface ServingCertificate {
  readonly key: string
  readonly cert: string
}

/** Reads the certificate out of a Secret of type kubernetes.io/tls; undefined where it lacks a part. */
export function servingCertificateIn(
  secret: KubeObject | undefined,
): ServingCertificate | undefined {
  const data = secret?.data
  if (!isMap(data) || typeof data['tls.key'] !== 'string' || typeof data['tls.crt'] !== 'string')
    return undefined
  const [key, cert] = [data['tls.key'], data['tls.crt']].map((text) =>
    Buffer.from(text, 'base64').toString(),
  )
  return key && cert ? { key, cert } : undefined
}

export interface FollowOptions {
  readonly onChange: (certificate: ServingCertificate) => void
  readonly onTrouble: (error: Error) => void
  readonly signal: AbortSignal
}

// A mounted Secret is swapped by a symlink, which a file watch can miss; polling cannot.
const POLL_MS = 10_000

/** Follows tls.crt and tls.key of a folder, which cert-manager or the service CA writes. */
export function followFiles(folder: string, { onChange, onTrouble, signal }: FollowOptions): void {
  let current = ''
  const look = () => {
    try {
      const [key, cert] = ['tls.key', 'tls.crt'].map((name) =>
        readFileSync(join(folder, name), 'utf8'),
      )
      if (!key || !cert || current === key + cert) return
      current = key + cert
      onChange({ key, cert })
    } catch (error) {
      onTrouble(error as Error)
    }
  }
  look()
  const timer = setInterval(look, POLL_MS)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
