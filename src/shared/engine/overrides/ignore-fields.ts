import { parseJson } from '../json/json.ts'
import type { KubeObject } from '../json/object.ts'
import { formatPointer, parsePointer } from '../json/pointer.ts'
import { byFirst, type FieldPath, type MergeTree } from '../merge/merge-tree.ts'
import { type Target, targetsIn } from '../merge/pointer-target.ts'
import type { Problem } from '../problem.ts'
import { err, ok, type Result } from '../result.ts'
import { excessOver, MAX_OVERRIDE_LENGTH, type OverrideNames } from './override-names.ts'

export interface ReleaseInput {
  /** The patched baseline. */
  readonly desired: KubeObject
  readonly tree: MergeTree
  /** The annotation's value. */
  readonly text: string
  readonly isSensitive: boolean
}

export interface Release {
  /** The patched baseline without what is released. */
  readonly desired: KubeObject
  readonly released: readonly FieldPath[]
  /** Fields that the schema knows and the baseline does not hold; an earlier one may have, and we own them still. */
  readonly unmanaged: readonly Unmanaged[]
}

interface Unmanaged {
  readonly pointer: string
  /** None through a list item that is not there. */
  readonly path: FieldPath | undefined
}

const MAX_POINTERS = 256

/** Takes the fields that `ignore-fields` names out of desired, or says all that is wrong with it. */
export const releaseFields = (
  input: ReleaseInput,
  names: OverrideNames,
): Result<Release, readonly Problem[]> => {
  const pointers = pointersOf(input.text, names)
  if (!pointers.ok) return err([problem(names, pointers.error)])
  const targetOf = targetsIn(input.tree, input.desired)
  const verdicts = pointers.value.map((pointer) =>
    judge(pointer, input.isSensitive, targetOf, names),
  )
  const problems = verdicts.flatMap((verdict) =>
    verdict.kind === 'refused' ? [verdict.problem] : [],
  )
  if (problems.length > 0) return err(problems)
  const fields = verdicts.filter((verdict) => verdict.kind === 'released')
  const tokens = fields.map((field) => field.tokens)
  return ok({
    desired: tokens.length === 0 ? input.desired : (without(input.desired, tokens) as KubeObject),
    released: fields.map(({ path }) => path),
    unmanaged: verdicts.filter((verdict) => verdict.kind === 'unmanaged'),
  })
}

const problem = (names: OverrideNames, message: string, pointer?: string): Problem => ({
  reason: 'InvalidIgnoreFields',
  annotation: names.ignoreFields,
  message,
  ...(pointer !== undefined && { pointer }),
})

const pointersOf = (
  text: string,
  { ignoreFields, mode }: OverrideNames,
): Result<readonly string[], string> => {
  const excess = excessOver(MAX_OVERRIDE_LENGTH, text)
  if (excess !== undefined) return err(excess)
  const listed = text.trim().startsWith('[')
    ? jsonPointers(text, ignoreFields)
    : ok(commaPointers(text))
  if (!listed.ok) return listed
  const pointers = [...new Set(listed.value)]
  return pointers.length > MAX_POINTERS
    ? err(
        `${ignoreFields} must not hold more than ${MAX_POINTERS} pointers: release a parent of theirs, or set ${mode}=unmanaged`,
      )
    : ok(pointers)
}

const jsonPointers = (text: string, ignoreFields: string): Result<readonly string[], string> => {
  const parsed = parseJson(text)
  if (!parsed.ok) {
    return err(
      `${ignoreFields} starts with "[" and is not the JSON array it must then be: ${parsed.error}`,
    )
  }
  const entries = parsed.value as readonly unknown[]
  const isText = (entry: unknown) => typeof entry === 'string'
  return entries.every(isText)
    ? ok(entries)
    : err(`${ignoreFields} starts with "[" and must then be a JSON array of nothing but strings`)
}

const commaPointers = (text: string): readonly string[] =>
  text.trim() === '' ? [] : text.split(',').map((pointer) => pointer.trim())

type Verdict =
  | { readonly kind: 'released'; readonly path: FieldPath; readonly tokens: readonly string[] }
  | ({ readonly kind: 'unmanaged' } & Unmanaged)
  | { readonly kind: 'refused'; readonly problem: Problem }

const judge = (
  pointer: string,
  isSensitive: boolean,
  targetOf: (tokens: readonly string[]) => Target,
  names: OverrideNames,
): Verdict => {
  const refused = (why: string): Verdict => ({
    kind: 'refused',
    problem: problem(names, `${pointer === '' ? 'an empty pointer' : pointer} ${why}`, pointer),
  })
  const parsed = parsePointer(pointer)
  if (!parsed.ok) return refused(parsed.error)
  const tokens = parsed.value
  const why = refusalOf(tokens, isSensitive, names)
  if (why !== undefined) return refused(why)
  const target = targetOf(tokens)
  if (target.kind === 'none') return refused(target.why)
  if (target.kind === 'part') {
    return refused(`${target.why}: ${wayOut(target.parent, isSensitive, names)}`)
  }
  return target.kind === 'absent'
    ? { kind: 'unmanaged', pointer, path: target.path }
    : { kind: 'released', path: target.path, tokens }
}

const refusalOf = (
  tokens: readonly string[],
  isSensitive: boolean,
  { mode, prefix }: OverrideNames,
): string | undefined => {
  const [first, second, third] = tokens
  if (first === undefined) return `is the whole object: to own that, set ${mode}=unmanaged`
  if (first === 'apiVersion' || first === 'kind')
    return 'says what the object is: remove the pointer'
  if (first === 'status') return 'is never managed: remove the pointer'
  if (first === 'metadata')
    return isReleasableMetadata(second, third, prefix)
      ? undefined
      : `cannot be released: in metadata only single labels and annotations outside ${prefix} can, as in /metadata/labels/team`
  if (isSensitive && tokens.length === 1) {
    return `is too much of a kind that grants power over nodes or access: name a field inside it, or to own the object set ${mode}=unmanaged`
  }
  return undefined
}

const wayOut = (parent: readonly string[], isSensitive: boolean, names: OverrideNames) =>
  refusalOf(parent, isSensitive, names) === undefined
    ? `release ${formatPointer(parent)} instead`
    : `to own the object, set ${names.mode}=unmanaged`

const isReleasableMetadata = (map: string | undefined, key: string | undefined, prefix: string) =>
  (map === 'labels' || map === 'annotations') && key !== undefined && !key.startsWith(prefix)

/** The container without what these paths of tokens lead to; undefined where that leaves it empty. */
const without = (container: object, paths: readonly (readonly string[])[]): object | undefined => {
  const beneath = byFirst(paths, (token) => token)
  const members = Object.entries(container).flatMap(([name, member]) => {
    const rest = beneath.get(name)
    const kept = rest ? remainder(member, rest) : member
    return kept === undefined ? [] : [[name, kept] as const]
  })
  if (members.length === 0) return undefined
  return Array.isArray(container)
    ? members.map(([, member]) => member)
    : Object.fromEntries(members)
}

const remainder = (member: object, paths: readonly (readonly string[])[]) =>
  paths.some((path) => path.length === 0) ? undefined : without(member, paths)
