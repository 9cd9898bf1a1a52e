/**
 * Whether `text` matches `pattern`, in which `*` stands for any characters. Each piece between two
 * stars is looked for once, from where the one before it ended: no pattern can make it explode.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return text === pattern
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= text.length - last.length
}
