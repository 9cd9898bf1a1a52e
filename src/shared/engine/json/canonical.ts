import { isMap } from './object.ts'

/** JSON with the members of every map in one fixed order, however deep it nests: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  try {
    return JSON.stringify(value, sortMembers)
  } catch (error) {
    // JSON's own writer calls itself at each level, and a hostile object has more of them than it may have calls.
    if (error instanceof RangeError) return writtenFlat(value)
    throw error
  }
}

const sortMembers = (_key: string, value: unknown) => (isMap(value) ? sorted(value) : value)

const sorted = (map: object) => Object.fromEntries(Object.entries(map).sort(byName))

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

/** What is still to be written: text as it is, or a value. */
type Pending = { readonly text: string } | { readonly value: unknown }

/** The same text, by a stack of our own. */
function writtenFlat(root: unknown): string {
  const pending: Pending[] = [{ value: root }]
  const written: string[] = []
  for (let next = pending.pop(); next; next = pending.pop()) {
    if ('text' in next) written.push(next.text)
    else for (const part of partsOf(next.value).reverse()) pending.push(part)
  }
  return written.join('')
}

function partsOf(value: unknown): Pending[] {
  if (Array.isArray(value)) return enclosed('[]', value.map(itemParts))
  if (!isMap(value)) return [{ text: JSON.stringify(value) ?? 'null' }]
  const members = Object.entries(sorted(value)).filter(([, member]) => member !== undefined)
  const parts = members.map(([name, member]): Pending[] => [
    { text: `${JSON.stringify(name)}:` },
    { value: member },
  ])
  return enclosed('{}', parts)
}

const itemParts = (value: unknown): Pending[] => [{ value }]

const enclosed = ([open = '', close = '']: string, parts: readonly Pending[][]): Pending[] => [
  { text: open },
  ...parts.flatMap((part, index) => (index === 0 ? part : [{ text: ',' }, ...part])),
  { text: close },
]
