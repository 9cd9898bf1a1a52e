import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'

import { isKubeObject, isMap, type KubeObject } from '../shared/engine/json/object.ts'

/**
 * Every object in a file of YAML documents or JSON, `-` being standard input; a list as `kubectl get -o yaml` prints it
 * gives what is in it. Throws an Error that names the file and what in it is none.
 */
export function readObjects(file: string): readonly KubeObject[] {
  const title = file === '-' ? 'standard input' : file
  return documentsIn(title, readText(title, file)).flatMap((document, index) =>
    objectsIn(document, `${title}: document ${index + 1}`),
  )
}

function readText(title: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw unreadable(title, error)
  }
}

function documentsIn(title: string, text: string): readonly unknown[] {
  // A dump of a thousand nodes takes the parser of YAML a hundred times as long.
  const json = text.trimStart().startsWith('{') ? asJson(text) : undefined
  if (json !== undefined) return [json]
  try {
    const documents = parseAllDocuments(text)
    const [fault] = documents.flatMap(({ errors }) => errors)
    if (fault) throw fault
    return documents.map((document) => document.toJS()).filter((document) => document !== null)
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

// A parser's message quotes the file from its second line on.
const unreadable = (title: string, cause: unknown) =>
  new Error(`cannot read ${title}: ${(cause as Error).message.split('\n')[0]}`, { cause })

function objectsIn(document: unknown, place: string): readonly KubeObject[] {
  if (isKubeObject(document) || !isList(document)) return [objectAt(document, place)]
  const { apiVersion, kind, items } = document
  // The items of a typed list do not repeat what the list says of all of them.
  const type = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) }
  return items.map((item, index) =>
    objectAt(isMap(item) ? { ...type, ...item } : item, `${place}, item ${index}`),
  )
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
  if (isKubeObject(value)) return value
  throw new Error(`${place} is no Kubernetes object with apiVersion, kind and metadata.name`)
}
