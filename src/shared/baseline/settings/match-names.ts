/**
 * Whether `text` matches `pattern`, in which `*` stands for any characters. Each piece between two
 * stars is looked for once, from where the one before it ended: no pattern can make it explode.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...middle] = pattern.split('*')
  const last = middle.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const piece of middle) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= text.length - last.length
}
