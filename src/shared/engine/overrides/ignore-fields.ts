import { parseJson } from '../json/json.ts'
import type { KubeObject } from '../json/object.ts'
import { formatPointer, parsePointer } from '../json/pointer.ts'
import { byFirst, type FieldPath, type MergeTree } from '../merge/merge-tree.ts'
import { type Target, targetsIn } from '../merge/pointer-target.ts'
import type { Problem } from '../problem.ts'
import { err, ok, type Result } from '../result.ts'
import { lengthProblem } from './annotation-limits.ts'
import { IGNORE_FIELDS, MODE, PREFIX } from './annotations.ts'

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
export const releaseFields = (input: ReleaseInput): Result<Release, readonly Problem[]> => {
  const pointers = pointersOf(input.text)
  if (!pointers.ok) return err([problem(pointers.error)])
  const targetOf = targetsIn(input.tree, input.desired)
  const verdicts = pointers.value.map((pointer) => judge(pointer, input.isSensitive, targetOf))
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

const problem = (message: string, pointer?: string): Problem => ({
  reason: 'InvalidIgnoreFields',
  annotation: IGNORE_FIELDS,
  message,
  ...(pointer !== undefined && { pointer }),
})

const pointersOf = (text: string): Result<readonly string[], string> => {
  const excess = lengthProblem(IGNORE_FIELDS, text)
  if (excess !== undefined) return err(excess)
  const listed = text.trim().startsWith('[') ? jsonPointers(text) : ok(commaPointers(text))
  if (!listed.ok) return listed
  const pointers = [...new Set(listed.value)]
  return pointers.length > MAX_POINTERS
    ? err(
        `${IGNORE_FIELDS} must not hold more than ${MAX_POINTERS} pointers: release a parent of theirs, or set ${MODE}=unmanaged`,
      )
    : ok(pointers)
}

const jsonPointers = (text: string): Result<readonly string[], string> => {
  const parsed = parseJson(text)
  if (!parsed.ok) {
    return err(
      `${IGNORE_FIELDS} starts with "[" and is not the JSON array it must then be: ${parsed.error}`,
    )
  }
  const entries = parsed.value as readonly unknown[]
  const isText = (entry: unknown) => typeof entry === 'string'
  return entries.every(isText)
    ? ok(entries)
    : err(`${IGNORE_FIELDS} starts with "[" and must then be a JSON array of nothing but strings`)
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
): Verdict => {
  const refused = (why: string): Verdict => ({
    kind: 'refused',
    problem: problem(`${pointer === '' ? 'an empty pointer' : pointer} ${why}`, pointer),
  })
  const parsed = parsePointer(pointer)
  if (!parsed.ok) return refused(parsed.error)
  const tokens = parsed.value
  const why = refusalOf(tokens, isSensitive)
  if (why !== undefined) return refused(why)
  const target = targetOf(tokens)
  if (target.kind === 'none') return refused(target.why)
  if (target.kind === 'part') {
    return refused(`${target.why}: ${wayOut(target.parent, isSensitive)}`)
  }
  return target.kind === 'absent'
    ? { kind: 'unmanaged', pointer, path: target.path }
    : { kind: 'released', path: target.path, tokens }
}

const refusalOf = (tokens: readonly string[], isSensitive: boolean): string | undefined => {
  const [first, second, third] = tokens
  if (first === undefined) return `is the whole object: to own that, set ${MODE}=unmanaged`
  if (first === 'apiVersion' || first === 'kind')
    return 'says what the object is: remove the pointer'
  if (first === 'status') return 'is never managed: remove the pointer'
  if (first === 'metadata')
    return isReleasableMetadata(second, third) ? undefined : METADATA_REFUSAL
  if (isSensitive && tokens.length === 1) {
    return `is too much of a kind that grants power over nodes or access: name a field inside it, or to own the object set ${MODE}=unmanaged`
  }
  return undefined
}

const wayOut = (parent: readonly string[], isSensitive: boolean) =>
  refusalOf(parent, isSensitive) === undefined
    ? `release ${formatPointer(parent)} instead`
    : `to own the object, set ${MODE}=unmanaged`

const METADATA_REFUSAL = `cannot be released: in metadata only single labels and annotations outside ${PREFIX} can, as in /metadata/labels/team`

const isReleasableMetadata = (map: string | undefined, key: string | undefined) =>
  (map === 'labels' || map === 'annotations') && key !== undefined && !key.startsWith(PREFIX)

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
