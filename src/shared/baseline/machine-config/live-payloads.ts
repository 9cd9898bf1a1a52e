import { isEqual } from '../../engine/json/equal.ts'
import { groupOf, isMap, type JsonMap, type KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'
import { type ContentDigest, commonContent, isVerified } from './payload.ts'

/**
 * The same object, in which each file of a MachineConfig whose decoded content is live's has live's `contents`, so
 * that another encoding of the same bytes rolls no pool; the very same object where nothing is to be taken over.
 * Without a digest, a payload that live states a hash for is never taken over, since a wrong one stops new nodes.
 */
export function withLivePayloads(
  desired: KubeObject,
  live: KubeObject,
  digest?: ContentDigest,
): KubeObject {
  const files = isMachineConfig(desired) ? valueAt(desired, FILES) : undefined
  if (!Array.isArray(files)) return desired
  const liveContents = contentsByPath(valueAt(live, FILES))
  const kept = files.map((file: unknown) => withLiveContents(file, liveContents, digest))
  return kept.every((file, index) => file === files[index])
    ? desired
    : (replacedAt(desired, FILES, kept) as KubeObject)
}

/** Whether the object is a MachineConfig of the Machine Config Operator, whatever its version. */
export const isMachineConfig = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>) =>
  kind === 'MachineConfig' && groupOf(apiVersion) === 'machineconfiguration.openshift.io'

const FILES = ['spec', 'config', 'storage', 'files'] as const

/** The `contents` of each file; undefined for a path that is there twice, of which Ignition takes neither. */
function contentsByPath(files: unknown): ReadonlyMap<unknown, unknown> {
  const found = new Map<unknown, unknown>()
  for (const file of Array.isArray(files) ? files : []) {
    if (isMap(file)) found.set(file.path, found.has(file.path) ? undefined : file.contents)
  }
  return found
}

function withLiveContents(
  file: unknown,
  liveContents: ReadonlyMap<unknown, unknown>,
  digest: ContentDigest | undefined,
): unknown {
  if (!isMap(file) || typeof file.path !== 'string') return file
  const contents = liveContents.get(file.path)
  if (!isMap(contents) || isEqual(contents, file.contents)) return file
  const content = commonContent(file.contents, contents)
  return content && isVerified(contents, content, digest) ? { ...file, contents } : file
}

/** A copy of nested maps in which one member, which is there, has another value. */
const replacedAt = (node: JsonMap, tokens: readonly string[], value: unknown): JsonMap => {
  const [token = '', ...rest] = tokens
  const member = rest.length === 0 ? value : replacedAt(node[token] as JsonMap, rest, value)
  return { ...node, [token]: member }
}
