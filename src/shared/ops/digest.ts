import { hash } from 'node:crypto'

/** SHA-256 of a text, hexadecimal. */
export const sha256 = (text: string) => hash('sha256', text)

/** The digest of some bytes, hexadecimal. */
export const contentDigest = (algorithm: 'sha256' | 'sha512', content: Uint8Array) =>
  hash(algorithm, content)
