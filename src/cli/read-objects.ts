import { readFileSync } from 'node:fs'
import { LineCounter, parseAllDocuments, YAMLParseError } from 'yaml'

import { isKubeObject, isMap, type KubeObject } from '../shared/engine/json/object.ts'
import { AS_KUBECTL } from './kubectl-yaml.ts'

/** A document of a file of YAML or JSON. */
export interface Document {
  readonly value: unknown
  /** The line on which it begins, from 1. */
  readonly line: number
}

/** Every object in a file of YAML or JSON, lists opened; `-` is standard input. Throws an Error that names the file and what is none. */
export function readObjects(file: string): readonly KubeObject[] {
  const title = titleOfFile(file)
  return documentsIn(title, readText(title, file)).flatMap(({ value }, index) =>
    objectsIn(value, `${title}: document ${index + 1}`),
  )
}

/** A file as messages name it. */
export const titleOfFile = (file: string) => (file === '-' ? 'standard input' : file)

function readText(title: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw unreadable(title, error)
  }
}

/** The documents in a text, the empty ones aside. Throws an UnreadableError that names the file and where in it the fault is. */
export function documentsIn(title: string, text: string): readonly Document[] {
  // A dump of a thousand nodes takes the parser of YAML a hundred times as long.
  const json = text.trimStart().startsWith('{') ? asJson(text) : undefined
  if (json !== undefined) return [{ value: json, line: 1 }]
  try {
    const lineCounter = new LineCounter()
    const documents = parseAllDocuments(text, { ...AS_KUBECTL, lineCounter, logLevel: 'error' })
    const [fault] = documents.flatMap(({ errors }) => errors)
    if (fault) throw fault
    return documents
      .map((document) => {
        const [start] = document.contents?.range ?? document.range
        return { value: document.toJS(), line: lineCounter.linePos(start).line }
      })
      .filter(({ value }) => value !== null)
  } catch (error) {
    throw unreadable(title, error)
  }
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A map of YAML may begin like one of JSON.
    return undefined
  }
}

/** What is in a file is not what is read here. */
export class UnreadableError extends Error {
  override name = 'UnreadableError' as const
  /** Where in the file, from 1. */
  readonly line: number

  constructor(message: string, line: number, options?: ErrorOptions) {
    super(message, options)
    this.line = line
  }
}

// A parser's message quotes the file from its second line on.
export function unreadable(title: string, cause: unknown): UnreadableError {
  const line = cause instanceof YAMLParseError ? cause.linePos?.[0].line : undefined
  const [first] = (cause as Error).message.split('\n')
  return new UnreadableError(`cannot read ${title}: ${first}`, line ?? 1, { cause })
}

const objectsIn = (document: unknown, place: string): readonly KubeObject[] =>
  isKubeObject(document) || !isList(document)
    ? [objectAt(document, place)]
    : itemsIn(document).map((item, index) => objectAt(item, `${place}, item ${index}`))

/** What a document holds: itself, or what is in it where it is a list. */
export function itemsIn(document: unknown): readonly unknown[] {
  if (isKubeObject(document) || !isList(document)) return [document]
  const { apiVersion, kind, items } = document
  // The items of a typed list do not repeat what the list says of all of them.
  const type = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) }
  return items.map((item) => (isMap(item) ? { ...type, ...item } : item))
}

interface List {
  readonly apiVersion: unknown
  readonly kind: string
  readonly items: readonly unknown[]
}

const isList = (value: unknown): value is List =>
  isMap(value) &&
  typeof value.kind === 'string' &&
  value.kind.endsWith('List') &&
  Array.isArray(value.items)

function objectAt(value: unknown, place: string): KubeObject {
  if (!isKubeObject(value))
    throw new Error(`${place} is no Kubernetes object with apiVersion, kind and metadata.name`)
  const { labels, annotations } = value.metadata
  const [loose] = Object.entries({ ...labels, ...annotations }).find(isNoText) ?? []
  if (loose === undefined) return value
  throw new Error(`${place}: the value of ${loose} is no text: write it in quotes`)
}

// The API server refuses it, and whoever writes `on` does not see that it is a boolean.
const isNoText = ([, value]: [string, unknown]) => typeof value !== 'string'
