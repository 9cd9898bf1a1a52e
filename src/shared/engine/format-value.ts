import { byteLength, isDeeper } from './json/json.ts'
import type { JsonMap } from './json/object.ts'
import { MAX_DEPTH } from './json/pointer.ts'

const SECRET_NAMES = [
  /pass|secret|token|credential|private|(api|access|encryption|signing|ssh)[-_]?key/i,
  // `key`, `tls.key`, `sshKeys`; but the key of a label or a topology is no secret.
  /(^|[-_.]|~1)keys?$/i,
  /(?<!topology|[lL]abel)Keys?$/,
]
const PAYLOADS = [
  /^data:[^,]*,/i,
  // Base64, unless it is so short that it may be a word.
  /^(?=[a-z\d+/\s]*[A-Z])(?=[A-Z\d+/\s]*[a-z])(?=[A-Za-z+/\s]*\d)[A-Za-z\d+/\r\n]{40,}$/,
  /^[A-Za-z\d+/\r\n]{22,}={1,2}[\r\n]{0,2}$/,
  // PEM, and the tokens that JSON is signed into.
  /-----BEGIN /,
  /(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,4096}\./,
  // An address with the password of whoever may go there.
  /:\/\/[^/\s:@]{1,256}:[^/\s@]{1,1024}@/,
]

// A secret that begins where it would still be shown is known by what follows, and none of the patterns looks further.
const LONGEST_SECRET = 9_000

/** A value as messages, events and logs may show it: JSON on one line, cut at `limit`, with no secret, payload or control character. */
export function formatValue(pointer: string, value: unknown, limit = 60): string {
  if (value === undefined) return 'nothing'
  if (pointer.split('/').some(isSecretName)) return '(hidden)'
  if (isPayload(value, limit)) return `(a payload of ${value.length} characters)`
  if (isDeeper(value, MAX_DEPTH)) return `(more than ${MAX_DEPTH} levels of nesting)`
  const text = escapeControls(jsonUpTo(value, limit + 1))
  return text.length > limit ? `${text.slice(0, limit - 1).replace(HALF, '')}…` : text
}

const HALF = /[\uD800-\uDBFF]$/

const isSecretName = (name: string) => SECRET_NAMES.some((names) => names.test(name))

const isPayload = (value: unknown, limit: number): value is string => {
  if (typeof value !== 'string') return false
  const start = value.slice(0, limit + LONGEST_SECRET)
  return PAYLOADS.some((payload) => payload.test(start))
}

/** The beginning of the value as JSON, of so many characters at least if there are as many; secrets and payloads hidden. */
function jsonUpTo(value: unknown, length: number): string {
  if (isPayload(value, length)) return '"(payload)"'
  if (typeof value === 'string') return JSON.stringify(value.slice(0, length))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return Array.isArray(value)
    ? joinedUpTo('[', partsOf(value, true, length), ']', length)
    : joinedUpTo('{', partsOf(value, false, length), '}', length)
}

function joinedUpTo(open: string, parts: Iterable<string>, close: string, length: number): string {
  let text = open
  for (const part of parts) {
    text += text === open ? part : `,${part}`
    if (text.length >= length) return text
  }
  return text + close
}

function* partsOf(container: object, isList: boolean, length: number): Generator<string> {
  // By name, and not by a list of all of them: there may be a hundred thousand.
  for (const name in container) {
    const member = (container as JsonMap)[name]
    if (member === undefined) continue
    const shown = isHidden(name, container) ? '"(hidden)"' : jsonUpTo(member, length)
    yield isList ? shown : `${JSON.stringify(name.slice(0, length))}:${shown}`
  }
}

const isHidden = (name: string, container: unknown) =>
  isSecretName(name) && !(name === 'key' && isRequirement(container))

/** Whether a map says which labels or taints it is about, the one sort of key that everybody may know. */
const isRequirement = (map: unknown) =>
  typeof map === 'object' && map !== null && ('operator' in map || 'effect' in map)

/** Makes whatever could move a terminal's cursor, forge a line or reorder text visible, as JSON would escape it. */
export const escapeControls = (text: string) => {
  // Nearly every text is nothing but printable ASCII.
  if (PLAIN.test(text)) return text
  return text.replace(/\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/gu, (character) =>
    character.replace(
      /[\s\S]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  )
}

const PLAIN = /^[ -~]*$/

/** The text, made safe to print and no longer than `limit` bytes. */
export function cut(text: string, limit: number): string {
  // No more than `limit` characters can be left, so that the rest, which may be megabytes, is not looked at.
  const safe = escapeControls(text.slice(0, limit + 1))
  if (byteLength(safe) <= limit) return safe
  let size = byteLength('…')
  let kept = ''
  for (const character of safe) {
    size += byteLength(character)
    if (size > limit) break
    kept += character
  }
  return `${kept}…`
}
