import { byteLength } from './json.ts'

const SECRET =
  /pass|secret|token|credential|private|(api|access|encryption|signing|ssh)[-_]?key|\.key$/i
const PAYLOAD = /^data:[^,]*;base64,/i

/**
 * A value as messages, events and logs may show it: JSON on one line, control characters escaped, cut
 * at `limit` characters. Values at secret-like pointers and encoded payloads are never shown.
 */
export function showValue(pointer: string, value: unknown, limit = 60): string {
  if (value === undefined) return 'nothing'
  if (isSecret(pointer)) return '(hidden)'
  if (typeof value === 'string' && PAYLOAD.test(value))
    return `(a payload of ${value.length} characters)`
  const text = escapeControls(JSON.stringify(value, hidePayloads))
  return text.length > limit ? `${text.slice(0, limit - 1).replace(HALF, '')}…` : text
}

const HALF = /[\uD800-\uDBFF]$/

const isSecret = (pointer: string) => pointer.split('/').some((name) => SECRET.test(name))

const hidePayloads = (key: string, value: unknown) => {
  if (key !== '' && SECRET.test(key)) return '(hidden)'
  return typeof value === 'string' && PAYLOAD.test(value) ? '(payload)' : value
}

/** Makes whatever could move a terminal's cursor, forge a line or reorder text visible, as JSON would escape it. */
export const escapeControls = (text: string) =>
  text.replace(/\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/gu, (character) =>
    character.replace(
      /[\s\S]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  )

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
