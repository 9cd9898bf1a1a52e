import { readFileSync } from 'node:fs'

import { certificatesIn } from '../../shared/ops/pem.ts'

/** Who says whom the API server trusts the webhook by: we, a file, or who injects it as these annotations say. */
export type TrustSource =
  | { readonly kind: 'own' }
  | { readonly kind: 'file'; readonly read: () => string }
  | { readonly kind: 'injection'; readonly annotations: Readonly<Record<string, string>> }

export interface TrustConfig {
  /** File with the authorities of the webhook's certificate, where somebody else makes it. */
  readonly webhookCa: string | undefined
  /** Annotations that have somebody else inject these authorities into the configurations. */
  readonly caInjection: Readonly<Record<string, string>> | undefined
}

export interface FollowBundleOptions {
  /** The file holds other authorities now. */
  readonly onChange: () => void
  /** The file cannot be used any more, told once; the authorities that were read stay. */
  readonly onTrouble: (error: Error) => void
  readonly signal: AbortSignal
}

// A mounted file is swapped by a symlink, which a file watch can miss.
const POLL_MS = 10_000

export function trustSourceOf(
  { webhookCa, caInjection }: TrustConfig,
  options: FollowBundleOptions,
): TrustSource {
  if (caInjection) return { kind: 'injection', annotations: caInjection }
  if (webhookCa === undefined) return { kind: 'own' }
  return { kind: 'file', read: followBundle(webhookCa, options) }
}

/** Follows a file of authorities, PEM. Returns what reads the last good ones, and throws before the first: an empty bundle trusts nobody. */
function followBundle(
  file: string,
  { onChange, onTrouble, signal }: FollowBundleOptions,
): () => string {
  let bundle: string | undefined
  let trouble: Error | undefined
  /** Whether the file holds others than before. */
  const look = (): boolean => {
    const before = bundle
    try {
      bundle = readBundle(file)
      trouble = undefined
    } catch (cause) {
      const error = cause as Error
      if (bundle !== undefined && error.message !== trouble?.message) onTrouble(error)
      trouble = error
    }
    return bundle !== before
  }
  look()
  const timer = setInterval(() => look() && onChange(), POLL_MS)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  return () => {
    if (bundle === undefined) throw trouble
    return bundle
  }
}

function readBundle(file: string): string {
  const certificates = certificatesIn(readText(file))
  // Only what was read is registered: a bundle may carry comments in any script, or somebody's key.
  if (certificates.some(({ ca }) => ca)) return certificates.map(String).join('')
  throw new Error(
    `--webhook-ca ${file} holds no authority: write the PEM certificate that signs the webhook’s there`,
  )
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`--webhook-ca ${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}
