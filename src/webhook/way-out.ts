import { DISABLED_RESOURCES, IGNORE_FIELDS, MODE, PATCH } from '../shared/engine/annotations.ts'
import type { Drift } from '../shared/engine/merge.ts'
import type { MergeTree } from '../shared/engine/merge-tree.ts'
import { annotationOf, type KubeObject, type ObjectMeta } from '../shared/engine/object.ts'
import { applyPatch } from '../shared/engine/patch.ts'
import { pointerOf } from '../shared/engine/pointer-of.ts'

/** Quotes one word for a POSIX shell. */
export const quote = (word: string) =>
  /^[\w./:=@,~+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

interface Target {
  readonly kind: string
  readonly metadata: Pick<ObjectMeta, 'name' | 'namespace'>
}

/** The kubectl command that sets an annotation. */
export function annotateCommand({ kind, metadata }: Target, key: string, value: string): string {
  const namespace = metadata.namespace ? `-n ${metadata.namespace} ` : ''
  return `kubectl annotate ${kind.toLowerCase()} ${namespace}${metadata.name} --overwrite ${key}=${quote(value)}`
}

export interface Wish {
  readonly object: KubeObject
  readonly baseline: KubeObject
  readonly tree: MergeTree
  readonly drifts: readonly Drift[]
}

/**
 * The `patch` annotation under which exactly this edit is legitimate: operations on the baseline, after
 * those of a patch that the object already carries. Undefined where no patch can say it.
 */
export function patchFor({ object, baseline, tree, drifts }: Wish): string | undefined {
  const existing = annotationOf(object, PATCH)
  const patched = existing === undefined ? undefined : applyPatch(baseline, existing)
  if (patched && !patched.ok) return undefined
  const operations = drifts.map(({ path, found }) => {
    const pointer = pointerOf(tree, patched?.value ?? baseline, path)
    if (pointer === undefined) return undefined
    return found === undefined
      ? { op: 'remove', path: pointer }
      : { op: 'add', path: pointer, value: found }
  })
  if (operations.includes(undefined)) return undefined
  const before: unknown = existing === undefined ? [] : JSON.parse(existing)
  // From the last item of a list to the first, no removal moves what is still to be removed.
  return JSON.stringify([...(before as object[]), ...operations.toReversed()])
}

/** The `ignore-fields` annotation that gives these fields to whoever sets them, along with those already given. */
export function ignoreFor({ object, baseline, tree, drifts }: Wish): string | undefined {
  const pointers = drifts.map(({ path }) => pointerOf(tree, baseline, path))
  if (pointers.some((pointer) => pointer === undefined || pointer.lastIndexOf('/') === 0))
    return undefined
  const existing = annotationOf(object, IGNORE_FIELDS)
  const kept = existing?.startsWith('[')
    ? (JSON.parse(existing) as string[])
    : (existing?.split(',') ?? [])
  const all = [...new Set([...kept.map((pointer) => pointer.trim()), ...(pointers as string[])])]
  return all.some((pointer) => pointer.includes(',')) ? JSON.stringify(all) : all.join(',')
}

/** The command that takes the whole object out of management. */
export const unmanageCommand = (target: Target) => annotateCommand(target, MODE, 'unmanaged')

/** The command that switches one asset off, along with those already switched off. */
export function excludeCommand(
  assetName: string,
  hco: Target,
  existing: string | undefined,
): string {
  const entry = `- ${assetName}`
  const value =
    existing === undefined || existing.trim() === '' ? entry : `${existing.trimEnd()}\n${entry}`
  return annotateCommand(hco, DISABLED_RESOURCES, value)
}
