import { gunzipSync } from 'node:zlib'

import { bytesOf } from '../../shared/baseline/machine-config/payload.ts'
import { isMap, mapMembers } from '../../shared/engine/json/object.ts'

/** The same object, to be read and not applied: each `data:` URL in it is the text that it encodes. */
export function decoded(value: unknown): unknown {
  if (typeof value === 'string') return decodedText(value)
  if (Array.isArray(value)) return value.map(decoded)
  return isMap(value) ? mapMembers(value, decoded) : value
}

function decodedText(text: string): string {
  const bytes = bytesOf(text)
  if (!bytes) return text
  const content = unpacked(bytes)
  try {
    const found = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
    if (!UNPRINTABLE.test(found)) return found
  } catch {
    // It is no text.
  }
  return `(${content.length} bytes that are no text)`
}

/** Any control character but tab and line ends acts on the terminal, and an invisible one reorders or hides what is read. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]|\p{Cf}/u

/** More than a MachineConfig could ever hold: a small payload may unpack to gigabytes. */
const MOST_BYTES = 64 << 20

/** Whatever gzip made is unpacked, whether or not it is said beside it; what cannot be is left as it is. */
function unpacked(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_BYTES })
  } catch {
    return bytes
  }
}
