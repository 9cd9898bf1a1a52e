import type { Piece } from './script.ts'

/** Stands for whatever a tag prints. */
export const PRINTED = '\uFFFC'

/** One line of what a template prints as it stands, without YAML comments. */
export interface OutlineLine {
  /** From 1, as in the template. */
  readonly line: number
  readonly text: string
}

/** The text of a template that every rendering has in common, line by line. */
export const outlineOf = (pieces: readonly Piece[]): readonly OutlineLine[] =>
  pieces
    .map(shown)
    .join('')
    .split('\n')
    .map((text, index) => ({ line: index + 1, text: withoutComment(text) }))

function shown({ kind, text }: Piece): string {
  if (kind === 'text') return text
  const lineEnds = text.replace(/[^\n]+/g, '')
  return kind === 'print' ? `${PRINTED}${lineEnds}` : lineEnds
}

// A # within quotes is taken for a comment too: then something is not looked at.
const withoutComment = (text: string) => text.replace(/(^|\s)#.*$/, '').trimEnd()

/** A member of the object itself or of its metadata, as a template has it. */
export interface OwnMember {
  readonly line: number
  /** `metadata.name` for what is in metadata. */
  readonly path: string
  readonly value: string
}

/** The members of the object and of its metadata, each on a line of its own or, in braces, on metadata's. */
export const ownMembers = (outline: readonly OutlineLine[]): readonly OwnMember[] => [
  ...outline.flatMap((line) => (isOfObject(line) ? memberOn(line, '') : [])),
  ...metadataLines(outline).flatMap(({ line, indent }) => {
    if (isOfObject(line)) return inBraces(line)
    return indentOf(line) === indent ? memberOn(line, 'metadata.') : []
  }),
]

const OUR_KEY = /(?:^|[{,])\s*["']?(platform\.kubevirt\.io\/[\w-]+)["']?\s*:/g

/** The keys under our prefix among the object's labels and annotations. */
export const ownKeys = (outline: readonly OutlineLine[]): readonly OwnMember[] =>
  metadataLines(outline).flatMap(({ line: { line, text } }) =>
    Array.from(text.matchAll(OUR_KEY), ([, path = '']) => ({ line, path, value: '' })),
  )

/** Whether a value is written out, all of it. */
export const isLiteral = (value: string) => value !== '' && !value.includes(PRINTED)

const isOfObject = ({ text }: OutlineLine) => /^\S/.test(text)
const indentOf = ({ text }: OutlineLine) => text.length - text.trimStart().length

/** The lines of metadata, from its own on, and by how much its members are indented. */
function metadataLines(outline: readonly OutlineLine[]) {
  const lines: { readonly line: OutlineLine; readonly indent: number }[] = []
  let indent: number | undefined
  let isWithin = false
  for (const line of outline.filter(({ text }) => text !== '')) {
    if (isOfObject(line)) {
      isWithin = /^["']?metadata["']?\s*:/.test(line.text)
      indent = undefined
    } else indent ??= indentOf(line)
    if (isWithin) lines.push({ line, indent: indent ?? 0 })
  }
  return lines
}

const MEMBER = /^\s*["']?([A-Za-z]+)["']?\s*:(?:\s+(.*))?$/

function memberOn({ line, text }: OutlineLine, prefix: string): readonly OwnMember[] {
  const [, name, value = ''] = MEMBER.exec(text) ?? []
  return name === undefined ? [] : [{ line, path: `${prefix}${name}`, value: value.trim() }]
}

const WITHIN = /[{[][^{}[\]]*[}\]]/g

function inBraces({ line, text }: OutlineLine): readonly OwnMember[] {
  const [start, end] = [text.indexOf('{'), text.lastIndexOf('}')]
  if (start < 0 || end < start) return []
  const members = text.slice(start + 1, end).replace(WITHIN, '')
  return members.split(',').flatMap((member) => memberOn({ line, text: member }, 'metadata.'))
}
