import { createReadStream, type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeeper } from '../../shared/engine/json/json.ts'
import { isKubeObject, isMap, type KubeObject } from '../../shared/engine/json/object.ts'
import { documentsIn, itemsIn, titleOfFile, UnreadableError, unreadable } from '../read-objects.ts'

/** An object, and where it is written. */
export interface Manifest {
  /** `-` for standard input. */
  readonly file: string
  readonly line: number
  readonly object: KubeObject
}

/** A file that cannot be read, and why. */
export interface Fault {
  readonly file: string
  readonly line: number
  readonly message: string
}

export interface Manifests {
  readonly manifests: readonly Manifest[]
  /** What was passed over, a sentence each. */
  readonly skipped: readonly string[]
  /** The files in folders that cannot be read. */
  readonly faults: readonly Fault[]
}

// Far more than any repository holds of manifests; whoever names a wrong folder learns it before memory is full.
const MOST_FILES = 20_000
const MOST_BYTES = 64 << 20
// What is deeper is no object of any API, and would end the process.
const MOST_LEVELS = 200

/** Every object in files, folders and standard input. Throws what names the file that was asked for and cannot be read, or is too much. */
export async function readManifests(
  paths: readonly string[],
  limits = { files: MOST_FILES, bytes: MOST_BYTES },
): Promise<Manifests> {
  const files = paths.flatMap((path) => filesAt(path, limits.files))
  if (files.length > limits.files)
    throw new Error(`there are more than ${limits.files} files: name the folders with manifests`)
  const found: (Manifest | string)[] = []
  const faults: Fault[] = []
  let room = limits.bytes
  for (const file of files) {
    try {
      const bytes = await readUpTo(file.file, room)
      room -= bytes.length
      if (room < 0)
        throw new Error(
          `${titleOfFile(file.file)}: with it there are more than ${limits.bytes} bytes to read: check fewer files at once`,
        )
      // One by one: there is room on the stack for some 100,000 arguments, and a list may hold more.
      for (const item of itemsOf(file, bytes.toString())) found.push(item)
    } catch (error) {
      faults.push(faultIn(file, error))
    }
  }
  return {
    manifests: found.filter((item) => typeof item !== 'string'),
    skipped: found.filter((item) => typeof item === 'string'),
    faults,
  }
}

/** What is wrong with a file that was only found: one that was asked for must be read. Throws what is another's fault. */
function faultIn({ file, isNamed }: File, error: unknown): Fault {
  if (isNamed || !(error instanceof UnreadableError)) throw error
  return { file, line: error.line, message: error.message }
}

/** What a file holds: objects, and why anything else is skipped. */
function itemsOf({ file, isNamed }: File, text: string): readonly (Manifest | string)[] {
  const title = titleOfFile(file)
  return documentsIn(title, text).flatMap(({ value, line }) =>
    itemsIn(value).map((item) => {
      if (isDeeper(item, MOST_LEVELS))
        throw new UnreadableError(
          `${title}:${line}: it nests deeper than ${MOST_LEVELS} levels`,
          line,
        )
      const why = whyNone(item)
      if (why === undefined) return { file, line, object: item as KubeObject }
      if (isNamed && !isTyped(item)) throw new Error(`${title}:${line}: ${why}`)
      return `skipped ${title}:${line}: ${why}`
    }),
  )
}

interface File {
  readonly file: string
  /** Whether it was asked for by name, rather than found in a folder. */
  readonly isNamed: boolean
}

function filesAt(path: string, most: number): readonly File[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return [{ file: path, isNamed: true }]
  // One more than there may be, so that this is seen.
  const files = filesIn(path).take(most + 1)
  return [...files].map((file) => ({ file, isNamed: false }))
}

/** The YAML and JSON files in a folder, by name. What begins with a dot is a tool's own, and a link may lead in circles. */
function* filesIn(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true })
  const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : 1)
  for (const entry of entries.filter(({ name }) => !name.startsWith('.')).sort(byName)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else if (entry.isFile() && /\.(ya?ml|json)$/i.test(entry.name)) yield path
  }
}

/** The content, of which hardly more than so many bytes are read: of a pipe nobody knows the size before. */
async function readUpTo(file: string, limit: number): Promise<Buffer> {
  try {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      chunks.push(chunk)
      size += chunk.length
      if (size > limit) break
    }
    return Buffer.concat(chunks)
  } catch (error) {
    throw unreadable(titleOfFile(file), error)
  }
}

const whyNone = (item: unknown) =>
  isKubeObject(item)
    ? undefined
    : 'it is no Kubernetes object with apiVersion, kind and metadata.name'

/** Whether it is of some kind: what a generator of names or a tool such as kustomize reads has no name. */
const isTyped = (item: unknown) =>
  isMap(item) && typeof item.apiVersion === 'string' && typeof item.kind === 'string'
