import { FIELD_MANAGER, IGNORE_FIELDS, PATCH } from '../../../shared/baseline/annotations.ts'
import type { Facts } from '../../../shared/baseline/facts/facts.ts'
import { cut, formatValue } from '../../../shared/engine/format-value.ts'
import { byteLength, MAX_VALUES } from '../../../shared/engine/json/json.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import { type Problem, sentenceOf } from '../../../shared/engine/problem.ts'
import type { Cause } from '../../server/review.ts'
import type { ManagedObject } from '../knowledge.ts'
import type { Fault, Write } from '../verdict/judge-annotations.ts'
import { isContent } from '../verdict/judge-content.ts'
import type { Corrected, Denied, Target } from '../verdict/verdict.ts'
import { consequence } from './consequence.ts'
import { remembered } from './remembered.ts'
import { annotateCommand, ignoreFor, patchFor, unmanageCommand, type Wish } from './way-out.ts'
import {
  COMMAND_LIMIT,
  DENIAL_EXPLANATION_LIMIT,
  DENIAL_LIMIT,
  EXPLANATION_LIMIT,
  explanation,
  fitted,
  isDiscreet,
  type Line,
  WARNINGS_LIMIT,
} from './wording.ts'

/** How many fields or faults are named one by one; the rest is a count. */
const NAMED = 5
// No command for more edits would be short enough to be shown, and making it takes its time.
const MAX_WISHES = 64
const MAX_CAUSES = 20

/**
 * The warnings of a correction: what was kept and why, field by field, then the command that makes the edit stick, and
 * what the write sets off.
 */
export function correctionWarnings(
  { drifts, putBack, plan, target, notes }: Corrected,
  managed: ManagedObject,
  { incoming, old }: Write,
  effects: readonly string[],
): readonly string[] {
  const { name, description } = managed.asset
  const title = titleOf(incoming)
  const tell = (rank: number, text: string) =>
    explanation(rank, `${title}: ${text}`, EXPLANATION_LIMIT)
  const [kept, at] = old ? ['kept', 'at'] : ['set', 'to']
  const told = drifts.length > 0 ? drifts : putBack
  const said = told.slice(0, NAMED)
  const lines = said.map(({ pointer, wanted }) => {
    const value = formatValue(pointer, wanted)
    if (drifts.length > 0)
      return `${pointer} ${kept} ${at} ${value} by ${FIELD_MANAGER} (${name}: ${description}).`
    // We do not know all that the API server wants of a value; it is asked after us.
    return plan.isPatched
      ? `${pointer} set to ${value} by ${FIELD_MANAGER}, as the patch now says (${name}); if the API server refuses that, mend the patch.`
      : `${pointer} set to ${value} by ${FIELD_MANAGER}, as the annotations now say (${name}: ${description}).`
  })
  const wish = wishOf(target, managed, incoming, drifts)
  return fitted(
    [
      ...lines.map((text) => tell(1, text)),
      ...(told.length > NAMED ? [tell(0, `${told.length} fields ${kept} in all.`)] : []),
      ...(wish ? [correctionWayOut(wish, plan.isPatched)] : []),
      ...effects.map((text) => tell(0, text)),
      ...notes.map((text) => tell(2, text)),
    ],
    WARNINGS_LIMIT,
  )
}

/** What the writer should know, one warning each. */
export const noteWarnings = (notes: readonly string[], incoming: KubeObject): readonly string[] =>
  fitted(
    notes.map((text) => explanation(0, `${titleOf(incoming)}: ${text}`, EXPLANATION_LIMIT)),
    WARNINGS_LIMIT,
  )

function correctionWayOut(wish: Wish, isPatched: boolean): Line {
  const change = isPatched ? 'To add it to the patch in force' : 'To change it'
  // Without an opinion on a field we leave it as it is: taking it away is for whoever wants it gone.
  const isRemoval = wish.drifts.some(({ kind }) => kind === 'missing')
  const repeat = isRemoval ? ', then repeat the edit' : ''
  const patch = patchWays(wish).map((way) => `${change}${repeat}: ${way}`)
  const wordings = patch.length > 0 ? patch : ownershipWays(wish)
  return { rank: 0, wordings: wordings.filter((text) => byteLength(text) <= COMMAND_LIMIT) }
}

const ownershipWays = (wish: Wish): readonly string[] => [
  ...ignoreWays(wish).map((way) => `To own it yourself: ${way}`),
  `To own the object: ${unmanageCommand(wish.object)}`,
]

const ignoreWays = remembered((wish): readonly string[] => {
  const ignore = wish.drifts.length > MAX_WISHES ? undefined : ignoreFor(wish)
  return ignore === undefined ? [] : [annotateCommand(wish.object, IGNORE_FIELDS, ignore)]
})

/** The wordings in which to name the patch that makes the edit legitimate; none where none can. */
const patchWays = remembered((wish): readonly string[] => {
  if (wish.isSensitive) return []
  if (wish.drifts.length > MAX_WISHES) return [TOO_LONG]
  const patch = patchFor(wish)
  if (patch === undefined) return []
  if (patch.length > DENIAL_LIMIT) return [TOO_LONG]
  return isShowable(patch) ? [annotateCommand(wish.object, PATCH, patch), TOO_LONG] : [SECRET]
})

const PRINTED = '`virt-platform-autopilot override FILE` prints it for your manifest.'
const TOO_LONG = `the command is too long to be shown here: ${PRINTED}`
const SECRET = `the command would show a secret or a payload: ${PRINTED}`

// A command that repeats a secret would print it on a terminal and in a log.
const isShowable = (patch: string) =>
  (JSON.parse(patch) as readonly { path: string; value?: unknown }[]).every(({ path, value }) =>
    isDiscreet(path, value),
  )

/** The denial of an edit: what was refused, why, what it would have done to the nodes, and the ways out. */
export function driftDenial(
  { drifts, target }: Pick<Denied, 'drifts' | 'target'>,
  managed: ManagedObject,
  incoming: KubeObject,
  facts: Facts,
  remark = '',
): string {
  const { asset, isSensitive } = managed
  const content = drifts.filter(isContent)
  const named = content.length > 0 ? content : drifts
  const pointers = named.slice(0, NAMED).map(({ pointer }) => pointer)
  const more = named.length > NAMED ? ` and ${named.length - NAMED} more` : ''
  const are = named.length > 1 ? 'are' : 'is'
  const noPatch = isSensitive ? ' This kind takes no patch.' : ''
  const why = `${asset.name}: ${asset.description}`
  const what = `${titleOf(incoming)}: ${pointers.join(', ')}${more} ${are} kept by ${FIELD_MANAGER} (${why})${consequence(asset, facts)}.${noPatch}${remark}`
  const wish = wishOf(target, managed, incoming, drifts)
  return fitted(
    [explanation(0, what, DENIAL_EXPLANATION_LIMIT), ...(wish ? denialWaysOut(wish) : [])],
    DENIAL_LIMIT,
  ).join('\n')
}

function denialWaysOut(wish: Wish): readonly Line[] {
  const fields = wish.drifts.length > 1 ? 'fields' : 'field'
  const line = (rank: number, what: string, ways: readonly string[]): Line => ({
    rank,
    wordings: ways.map((way) => `${what}: ${way}`),
  })
  return [
    line(2, 'To make this edit stick', patchWays(wish)),
    line(3, `To own the ${fields} yourself`, ignoreWays(wish)),
    line(1, 'To own the object', [unmanageCommand(wish.object)]),
    { rank: 4, wordings: [GITOPS] },
  ]
}

const GITOPS = 'Where GitOps owns the object, put the annotation into its manifest.'

/** The denial of a write of more than can be judged. */
export function oversizedDenial({ asset }: ManagedObject, incoming: KubeObject): string {
  const what = `${titleOf(incoming)}: it has more than ${MAX_VALUES} values, too many for ${FIELD_MANAGER} to judge (${asset.name}: ${asset.description}). Nothing was stored: write fewer.`
  return fitted(
    [
      explanation(0, what, DENIAL_EXPLANATION_LIMIT),
      { rank: 1, wordings: [`To own the object: ${unmanageCommand(incoming)}`] },
    ],
    DENIAL_LIMIT,
  ).join('\n')
}

/** The denial of a write with faulty annotations: one sentence for each fault, and a cause that says where it is. */
export function faultDenial({ problems, reason }: Fault, incoming: KubeObject) {
  const sentences = problems.slice(0, NAMED).map((problem) => cut(sentenceOf(problem), 300))
  const more = problems.length > NAMED ? `; and ${problems.length - NAMED} more` : ''
  const what = `${titleOf(incoming)}: ${sentences.join('; ')}${more}.`
  const wayOut =
    reason === 'PatchBlocked'
      ? `To own the object: ${unmanageCommand(incoming)}`
      : 'Nothing was stored: mend the annotation and write again.'
  const lines = [explanation(0, what, 1_700), { rank: 0, wordings: [wayOut] }]
  return {
    message: fitted(lines, DENIAL_LIMIT).join('\n'),
    causes: problems.slice(0, MAX_CAUSES).map(causeOf),
  }
}

const causeOf = (problem: Problem): Cause => {
  const { annotation, operation, pointer } = problem
  const field = [
    `metadata.annotations[${annotation}]`,
    ...(operation === undefined ? [] : [`operation ${operation}`]),
    ...(pointer === undefined ? [] : [pointer]),
  ]
  return {
    reason: 'FieldValueInvalid',
    message: cut(sentenceOf(problem), 512),
    field: cut(field.join(' '), 512),
  }
}

/** The edit of these fields as a wish; undefined where the write moved none but our label. */
function wishOf(
  target: Target,
  { isSensitive }: ManagedObject,
  object: KubeObject,
  drifts: readonly Drift[],
): Wish | undefined {
  const content = drifts.filter(isContent)
  return content.length === 0 ? undefined : { ...target, object, drifts: content, isSensitive }
}
