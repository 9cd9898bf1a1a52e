const SECRET = /pass(word|wd|phrase)?|secret|token|credential|private|api-?key|(^|[^a-z])key$/i
const PAYLOAD = /^data:[^,]*;base64,/i

/**
 * A value as messages, events and logs may show it: JSON on one line, control characters escaped, cut
 * at `limit` characters. Values at secret-like pointers and encoded payloads are never shown.
 */
export function showValue(pointer: string, value: unknown, limit = 60): string {
  if (value === undefined) return 'nothing'
  if (SECRET.test(pointer.slice(pointer.lastIndexOf('/') + 1))) return '(hidden)'
  if (typeof value === 'string' && PAYLOAD.test(value))
    return `(a payload of ${value.length} characters)`
  const text = escapeControls(JSON.stringify(value, hidePayloads))
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text
}

const hidePayloads = (key: string, value: unknown) => {
  if (key !== '' && SECRET.test(key)) return '(hidden)'
  return typeof value === 'string' && PAYLOAD.test(value) ? '(payload)' : value
}

/** Makes whatever could move a terminal's cursor, forge a line or reorder text visible. */
export const escapeControls = (text: string) =>
  text.replace(
    /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
