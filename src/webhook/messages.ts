import type { Asset } from '../shared/catalog/catalog.ts'
import type { Facts } from '../shared/catalog/facts.ts'
import {
  DISABLED_RESOURCES,
  FIELD_MANAGER,
  IGNORE_FIELDS,
  PATCH,
  PREFIX,
} from '../shared/engine/annotations.ts'
import type { Drift } from '../shared/engine/merge.ts'
import { type KubeObject, titleOf } from '../shared/engine/object.ts'
import { escapeControls, showValue } from '../shared/engine/show.ts'
import { isContent, type Verdict } from './judge.ts'
import type { DeleteVerdict } from './judge-delete.ts'
import type { Knowledge, ManagedObject } from './knowledge.ts'
import {
  annotateCommand,
  excludeCommand,
  ignoreFor,
  patchFor,
  unmanageCommand,
  type Wish,
} from './way-out.ts'

/** How many fields are named one by one; the rest is a count. */
const NAMED = 5
// The API server cuts a warning at 256 characters when all of them together pass 4,096; ours never do.
const EXPLANATION_LIMIT = 256
const COMMAND_LIMIT = 700
const WARNINGS_LIMIT = 2_048
const DENIAL_LIMIT = 2_048

type Corrected = Extract<Verdict, { kind: 'corrected' }>
type DriftDenial = Extract<Verdict, { kind: 'denied'; reason: 'Drift' }>

/** The warnings of a correction: what was kept and why, field by field, then the command that makes the edit stick. */
export function correctionWarnings(
  { drifts, plan, notes }: Corrected,
  managed: ManagedObject,
  incoming: KubeObject,
): readonly string[] {
  const { asset } = managed
  const kept = drifts.slice(0, NAMED).map(({ pointer, wanted }) => {
    const value = showValue(pointer, wanted)
    return `${titleOf(incoming)}: ${pointer} kept at ${value} by ${FIELD_MANAGER} (${asset.name}: ${asset.description}).`
  })
  const more =
    drifts.length > NAMED
      ? [`${titleOf(incoming)}: and ${drifts.length - NAMED} more fields kept.`]
      : []
  const overridden =
    drifts.length === 0 ? [`${titleOf(incoming)}: set as its ${PREFIX} annotations say.`] : []
  const wish = wishOf(managed, incoming, drifts.filter(isContent))
  const command = wish && wish.drifts.length > 0 ? [correctionWayOut(wish, plan.isPatched)] : []
  return bounded([...kept, ...more, ...overridden, ...command, ...notes])
}

function correctionWayOut(wish: Wish, isPatched: boolean): string {
  const patch = patchFor(wish)
  const command =
    patch === undefined ? unmanageCommand(wish.object) : annotateCommand(wish.object, PATCH, patch)
  if (command.length <= COMMAND_LIMIT && !hidesSecrets(wish.drifts)) {
    return `To ${isPatched ? 'add it to the patch in force' : 'change it'}: ${command}`
  }
  return `To change it: put the ${PATCH} annotation that \`virt-platform-autopilot override FILE\` prints for your manifest on the object.`
}

// A command that repeats a secret would print it on a terminal and in a log.
const hidesSecrets = (drifts: readonly Drift[]) =>
  drifts.some(({ pointer, found }) => showValue(pointer, found, 10_000).includes('(hidden)'))

/** The denial of an edit: what was refused, why, what it would have done to the nodes, and the ways out. */
export function driftDenial(
  { drifts }: DriftDenial,
  managed: ManagedObject,
  incoming: KubeObject,
  facts: Facts,
): string {
  const { asset, isSensitive } = managed
  const content = drifts.filter(isContent)
  const named = content.slice(0, NAMED).map(({ pointer }) => pointer)
  const more = content.length > NAMED ? ` and ${content.length - NAMED} more` : ''
  const what = `${titleOf(incoming)}: ${named.join(', ')}${more} ${content.length > 1 ? 'are' : 'is'} kept by ${FIELD_MANAGER} (${asset.name}: ${asset.description})`
  const wish = wishOf(managed, incoming, content)
  const ways = wish
    ? denialWaysOut(wish, isSensitive)
    : [`To own the object: ${unmanageCommand(incoming)}`]
  return bound([`${what}${consequence(asset, facts)}.`, ...ways, GITOPS].join('\n'), DENIAL_LIMIT)
}

const GITOPS = 'Where GitOps owns the object, put the annotation into its manifest.'

function denialWaysOut(wish: Wish, isSensitive: boolean): readonly string[] {
  const patch = isSensitive ? undefined : patchFor(wish)
  const ignore = ignoreFor(wish)
  return [
    ...(isSensitive ? [`This kind takes no ${PATCH}.`] : []),
    ...(patch === undefined
      ? []
      : [`To make this edit stick: ${annotateCommand(wish.object, PATCH, patch)}`]),
    ...(ignore === undefined
      ? []
      : [`To own the field yourself: ${annotateCommand(wish.object, IGNORE_FIELDS, ignore)}`]),
    `To own the object: ${unmanageCommand(wish.object)}`,
  ]
}

/** What changing a disruptive asset's object would do, as the tail of a sentence. */
export function consequence({ disruption, pool }: Asset, { pools }: Facts): string {
  if (disruption !== 'reboot' || pool === undefined) return ''
  const count = pools[pool]
  const nodes = count === undefined ? 'the nodes' : count === 1 ? '1 node' : `${count} nodes`
  return `; a change would reboot ${nodes} of pool ${pool}`
}

/** The denial of a write with faulty annotations: one sentence for each, and the field it is about. */
export function problemDenial(
  { problems, reason }: Extract<Verdict, { readonly problems: unknown }>,
  { asset }: ManagedObject,
  incoming: KubeObject,
) {
  const sentences = problems.map(({ message }) => message)
  const wayOut =
    reason === 'PatchBlocked'
      ? ` To own the object: ${unmanageCommand(incoming)}`
      : ' Nothing was stored: mend the annotation and write again.'
  return {
    message: bound(
      `${titleOf(incoming)} (${asset.name}): ${sentences.join('; ')}.${wayOut}`,
      DENIAL_LIMIT,
    ),
    causes: problems.map(({ message, annotation, pointer, operation }) => ({
      reason: 'FieldValueInvalid',
      message: escapeControls(message),
      field: [
        `metadata.annotations[${annotation}]`,
        ...(operation === undefined ? [] : [`operation ${operation}`]),
        ...(pointer === undefined ? [] : [pointer]),
      ].join(' '),
    })),
  }
}

/** What is told about a deletion: a warning when it is in vain, the refusal when it must not be. */
export function deletionMessage(
  { reason }: DeleteVerdict,
  { asset }: ManagedObject,
  old: KubeObject,
  { facts, validSettings }: Knowledge,
): string | undefined {
  const hco = {
    kind: 'HyperConverged',
    metadata: { name: 'kubevirt-hyperconverged', namespace: facts.hco.namespace },
  }
  const exclude = excludeCommand(asset.name, hco, validSettings[DISABLED_RESOURCES])
  switch (reason) {
    case 'Recreated':
      return bound(
        `${titleOf(old)} comes back within seconds, without its overrides (${asset.name}: ${asset.description}). To keep it away: ${exclude}`,
        COMMAND_LIMIT,
      )
    case 'Unmanaged':
      return bound(
        `${titleOf(old)} comes back, and managed (${asset.name}). To keep it away: ${exclude}`,
        COMMAND_LIMIT,
      )
    case 'Protected':
      return bound(
        [
          `${titleOf(old)} is kept by ${FIELD_MANAGER} (${asset.name}: ${asset.description})${consequence(asset, facts)}.`,
          `To delete it for good, switch the asset off first: ${exclude}`,
        ].join('\n'),
        DENIAL_LIMIT,
      )
    default:
      return undefined
  }
}

function wishOf(
  { standing, tree }: ManagedObject,
  object: KubeObject,
  drifts: readonly Drift[],
): Wish | undefined {
  if (standing.kind !== 'active' || !tree) return undefined
  return { object, baseline: standing.baseline, tree, drifts }
}

// What people read keeps its line breaks; nothing else that a writer chose may shape the text.
const bound = (text: string, limit: number) => {
  const safe = text.split('\n').map(escapeControls).join('\n')
  return safe.length > limit ? `${safe.slice(0, limit - 1)}…` : safe
}

function bounded(warnings: readonly string[]): readonly string[] {
  let left = WARNINGS_LIMIT
  return warnings.flatMap((warning) => {
    const text = bound(warning, warning.startsWith('To ') ? COMMAND_LIMIT + 60 : EXPLANATION_LIMIT)
    left -= text.length
    return left < 0 ? [] : [text]
  })
}
