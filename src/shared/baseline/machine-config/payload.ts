import { Gunzip, gzipSync } from 'fflate'

import { isMap, type JsonMap } from '../../engine/json/object.ts'

/** The digest of a content as Ignition's `verification` states it, hexadecimal. */
export type ContentDigest = (algorithm: 'sha256' | 'sha512', content: Uint8Array) => string

/** The bytes that two `contents` of an Ignition file both put on a node; undefined where they differ, cannot be read, or both are compressed. */
export function commonContent(left: unknown, right: unknown): Uint8Array | undefined {
  const [a, b] = [payloadOf(left), payloadOf(right)]
  if (!a || !b || (a.isPacked && b.isPacked)) return undefined
  const [plain, other] = a.isPacked ? [b.bytes, a] : [a.bytes, b]
  const isSame = other.isPacked ? unpacksTo(other.bytes, plain) : isSameBytes(other.bytes, plain)
  return isSame ? plain : undefined
}

/** Whether the `verification` of `contents` agrees with the bytes that they decode to; none at all does. */
export function isVerified(contents: JsonMap, content: Uint8Array, digest?: ContentDigest) {
  const { verification = null } = contents
  if (verification === null) return true
  if (!isMap(verification)) return false
  const { hash = null } = verification
  if (hash === null) return true
  const [, algorithm, value] = (typeof hash === 'string' && HASH.exec(hash)) || []
  // Ignition's hash is that of the content, after decompression.
  return isAlgorithm(algorithm) && digest?.(algorithm, content) === value
}

const HASH = /^(sha256|sha512)-([0-9a-f]+)$/

const isAlgorithm = (name: string | undefined) => name === 'sha256' || name === 'sha512'

interface Payload {
  readonly bytes: Uint8Array
  /** The bytes are compressed by gzip. */
  readonly isPacked: boolean
}

function payloadOf(contents: unknown): Payload | undefined {
  if (!isMap(contents)) return undefined
  const compression = contents.compression ?? ''
  const isPacked = compression === 'gzip'
  const bytes = isPacked || compression === '' ? bytesOf(contents.source) : undefined
  return bytes && { bytes, isPacked }
}

/** What precedes the comma: any media type and parameters, and how the rest is encoded. */
const HEADER = /^data:(?:[^,;="/]+\/[^,;="/]+)?(?:;[^,;="]+=[^,;="]*)*(;base64)?$/
const LONGEST_HEADER = 256

/** Decodes a data URL as strictly as the readers on a node do: what they refuse is no content. */
export function bytesOf(source: unknown): Uint8Array | undefined {
  if (typeof source !== 'string') return undefined
  const comma = source.slice(0, LONGEST_HEADER).indexOf(',')
  const header = HEADER.exec(source.slice(0, Math.max(comma, 0)))
  if (!header) return undefined
  const data = source.slice(comma + 1)
  return header[1] ? fromBase64(data) : fromPercents(data)
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const fromBase64 = (text: string) =>
  text.length % 4 === 0 && BASE64.test(text) ? Buffer.from(text, 'base64') : undefined

/** Characters that a URL holds only escaped, and escapes that are none. */
const NO_URL = /[^!$-;=?-Z_a-z~]|%(?![0-9A-Fa-f]{2})/

const fromPercents = (text: string) =>
  NO_URL.test(text)
    ? undefined
    : Buffer.from(
        text.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      )

const isSameBytes = (left: Uint8Array, right: Uint8Array) => Buffer.compare(left, right) === 0

/** A gzip member's last bytes: the content's checksum and its length. */
const TRAILER = 8
/** Little enough that what a bomb yields of it, a thousand times as much, does no harm. */
const CHUNK = 512

/** Whether a gzip payload decompresses to the content; reads no further than the first difference. */
function unpacksTo(packed: Uint8Array, content: Uint8Array): boolean {
  // The trailer first: almost everything that differs is never decompressed.
  const trailer = gzipSync(content, { level: 0, mtime: 0 }).subarray(-TRAILER)
  if (!isSameBytes(packed.subarray(-TRAILER), trailer)) return false
  let length = 0
  let isSame = true
  const gunzip = new Gunzip((piece) => {
    const from = length
    length += piece.length
    isSame &&= isSameBytes(piece, content.subarray(from, length))
  })
  try {
    for (let at = 0; isSame && at < packed.length; at += CHUNK) {
      gunzip.push(packed.subarray(at, at + CHUNK), at + CHUNK >= packed.length)
    }
  } catch {
    return false
  }
  return isSame && length === content.length
}
