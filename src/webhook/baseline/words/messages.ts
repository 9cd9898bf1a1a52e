import { FIELD_MANAGER, IGNORE_FIELDS, PATCH } from '../../../shared/baseline/annotations.ts'
import type { Facts } from '../../../shared/baseline/facts/facts.ts'
import { annotateCommand, unmanageCommand } from '../../../shared/baseline/kubectl.ts'
import { cut, formatValue } from '../../../shared/engine/format-value.ts'
import { byteLength, MAX_VALUES } from '../../../shared/engine/json/json.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import { type Problem, sentenceOf } from '../../../shared/engine/problem.ts'
import type { Cause } from '../../server/review.ts'
import { COMMAND_LIMIT, denial, explanation, type Line, warnings } from '../../server/wording.ts'
import type { Write } from '../decide/gathered.ts'
import { isContent } from '../decide/judge-content.ts'
import type { PatchRemedy, Remedy } from '../decide/remedy.ts'
import type { Fault, Verdict } from '../decide/verdict.ts'
import type { ManagedObject } from '../snapshot.ts'
import { warRemark } from './event-notes.ts'
import { consequence } from './notes.ts'

/** How many fields or faults are named one by one; the rest is a count. */
const NAMED = 5
const MAX_CAUSES = 20

/**
 * The warnings of a correction: what was kept and why, field by field, then the command that makes the edit stick, and
 * what the write sets off.
 */
export function correctionWarnings(
  { drifts, putBack, plan, remedy, notes, quotas }: Extract<Verdict, { kind: 'corrected' }>,
  managed: ManagedObject,
  { incoming, old }: Write,
  effects: readonly string[],
): readonly string[] {
  const { name, description } = managed.asset
  const title = titleOf(incoming)
  const tell = (rank: number, text: string) => explanation(rank, `${title}: ${text}`)
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
  const isRemoval =
    !remedy?.isPartial && drifts.some((drift) => drift.kind === 'missing' && isContent(drift))
  return warnings([
    ...lines.map((text) => tell(1, text)),
    ...(told.length > NAMED ? [tell(0, `${told.length} fields ${kept} in all.`)] : []),
    ...(remedy ? [correctionRemedy(remedy, incoming, plan.isPatched, isRemoval)] : []),
    ...(remedy?.isPartial ? [tell(1, LEFT_OUT)] : []),
    ...effects.map((text) => tell(0, text)),
    ...quotaWays(quotas, incoming),
    ...notes.map((text) => tell(2, text)),
  ])
}

/** What the writer should know, one warning each, and what to do about it where that is a command. */
export const noteWarnings = (
  notes: readonly string[],
  incoming: KubeObject,
  { quotas }: Pick<Verdict, 'quotas'>,
): readonly string[] =>
  warnings([
    ...notes.map((text) => explanation(0, `${titleOf(incoming)}: ${text}`)),
    ...quotaWays(quotas, incoming),
  ])

/** How to keep quotas that go with a write: too late once it is stored, in time for whoever tries it out. */
function quotaWays(quotas: Verdict['quotas'], object: KubeObject): readonly Line[] {
  if (quotas?.ignoreFields === undefined) return []
  const way = annotateCommand(object, IGNORE_FIELDS, quotas.ignoreFields)
  const text = `To keep them, before you do this (--dry-run=server tries it out): ${way}`
  return [{ rank: 0, wordings: byteLength(text) <= COMMAND_LIMIT ? [text] : [] }]
}

function correctionRemedy(
  remedy: Remedy,
  object: KubeObject,
  isPatched: boolean,
  isRemoval: boolean,
): Line {
  if (remedy.patch.kind === 'refused') return explanation(0, refusedBy(remedy.patch))
  const change = isPatched ? 'To add it to the patch in force' : 'To change it'
  // Without an opinion on a field we leave it as it is: taking it away is for whoever wants it gone.
  const repeat = isRemoval ? ', then repeat the edit' : ''
  const patch = patchWays(remedy.patch, object).map((way) => `${change}${repeat}: ${way}`)
  const ownership = [
    ...ignoreWays(remedy, object).map((way) => `To own it yourself: ${way}`),
    `To own the object: ${unmanageCommand(object)}`,
  ]
  const wordings = patch.length > 0 ? patch : ownership
  return { rank: 0, wordings: wordings.filter((text) => byteLength(text) <= COMMAND_LIMIT) }
}

/** What nobody can have is offered to nobody. */
const refusedBy = ({ why }: Extract<PatchRemedy, { kind: 'refused' }>) =>
  `No annotation helps, since the API server does not take this edit: ${why}.`

/** How to say no more than one means. */
const LEFT_OUT =
  'Fields that you left out stay as they are. To leave them alone, use kubectl apply --server-side, or write the full manifest.'

const ignoreWays = ({ ignoreFields }: Remedy, object: KubeObject): readonly string[] =>
  ignoreFields === undefined ? [] : [annotateCommand(object, IGNORE_FIELDS, ignoreFields)]

/** The wordings in which to name the patch that makes the edit legitimate; none where none can. */
function patchWays(
  patch: Exclude<PatchRemedy, { kind: 'refused' }>,
  object: KubeObject,
): readonly string[] {
  if (patch.kind === 'annotation') return [annotateCommand(object, PATCH, patch.text), TOO_LONG]
  return { none: [], long: [TOO_LONG], secret: [SECRET] }[patch.kind]
}

const PRINTED = '`virt-platform-autopilot override FILE` prints it for your manifest.'
const TOO_LONG = `the command is too long to be shown here: ${PRINTED}`
const SECRET = `the command would show a secret or a payload: ${PRINTED}`

/** The denial of an edit: what was refused, why, what it would have done to the nodes, and the ways out. */
export function driftDenial(
  verdict: Extract<Verdict, { drifts: unknown; kind: 'denied' }>,
  managed: ManagedObject,
  incoming: KubeObject,
  facts: Facts,
): string {
  const { drifts, remedy } = verdict
  const { asset, isSensitive } = managed
  const content = drifts.filter(isContent)
  const named = content.length > 0 ? content : drifts
  const pointers = named.slice(0, NAMED).map(({ pointer }) => pointer)
  const more = named.length > NAMED ? ` and ${named.length - NAMED} more` : ''
  const are = named.length > 1 ? 'are' : 'is'
  const noPatch = isSensitive ? ' This kind takes no patch.' : ''
  const why = `${asset.name}: ${asset.description}`
  const what = `${titleOf(incoming)}: ${pointers.join(', ')}${more} ${are} kept by ${FIELD_MANAGER} (${why})${consequence(asset, facts)}.${noPatch}${remarkOn(verdict)}`
  const remedies = remedy ? denialRemedies(remedy, incoming, content.length > 1) : []
  return denial(what, remedies)
}

function remarkOn({ reason, contest }: Pick<Verdict, 'reason' | 'contest'>): string {
  if (reason === 'NotCorrected') return NOT_CORRECTED
  return contest?.ruling.kind === 'refused' ? warRemark(contest) : ''
}

const NOT_CORRECTED =
  ' The correction did not last: another admission webhook changed the object after ours, or ours was not reached. Write again.'

function denialRemedies(remedy: Remedy, object: KubeObject, isPlural: boolean): readonly Line[] {
  const { patch } = remedy
  if (patch.kind === 'refused') return [explanation(1, refusedBy(patch))]
  const fields = isPlural ? 'fields' : 'field'
  const line = (rank: number, what: string, ways: readonly string[]): Line => ({
    rank,
    wordings: ways.map((way) => `${what}: ${way}`),
  })
  return [
    line(2, 'To make this edit stick', patchWays(patch, object)),
    line(3, `To own the ${fields} yourself`, ignoreWays(remedy, object)),
    line(1, 'To own the object', [unmanageCommand(object)]),
    ...(remedy.isPartial ? [{ rank: 4, wordings: [LEFT_OUT] }] : []),
    { rank: 5, wordings: [GITOPS] },
  ]
}

const GITOPS = 'Where GitOps owns the object, put the annotation into its manifest.'

/** The denial of a write of more than can be judged. */
export function oversizedDenial({ asset }: ManagedObject, incoming: KubeObject): string {
  const what = `${titleOf(incoming)}: it has more than ${MAX_VALUES} values, too many for ${FIELD_MANAGER} to judge (${asset.name}: ${asset.description}). Nothing was stored: write fewer.`
  return denial(what, [{ rank: 1, wordings: [`To own the object: ${unmanageCommand(incoming)}`] }])
}

/** The denial of a write with faulty annotations: one sentence for each fault, and a cause that says where it is. */
export function faultDenial({ problems, reason }: Fault, incoming: KubeObject) {
  const sentences = problems.slice(0, NAMED).map((problem) => cut(sentenceOf(problem), 300))
  const more = problems.length > NAMED ? `; and ${problems.length - NAMED} more` : ''
  const what = `${titleOf(incoming)}: ${sentences.join('; ')}${more}.`
  const remedy =
    reason === 'PatchBlocked'
      ? `To own the object: ${unmanageCommand(incoming)}`
      : 'Nothing was stored: mend the annotation and write again.'
  return {
    message: denial(what, [{ rank: 0, wordings: [remedy] }], 1_700),
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
