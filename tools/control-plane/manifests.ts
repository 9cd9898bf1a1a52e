import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

/** A Kubernetes object to be applied. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: unknown
  readonly status?: unknown
}

/** Every object in the YAML files of a folder and the folders in it, in the order of their paths. */
export function loadManifests(folder: string): readonly Manifest[] {
  const files = globSync('**/*.yaml', { cwd: folder })
  return files.sort().flatMap((file) => manifestsIn(join(folder, file)))
}

/** Every object in a YAML file. */
export function manifestsIn(file: string): readonly Manifest[] {
  const documents = parseAllDocuments(readFileSync(file, 'utf8'))
  return documents.map((document) => document.toJS()).filter((object) => object?.kind)
}
