import { byteLength } from '../../../shared/engine/json/json.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import { type Cause, causeText } from '../../../shared/graph/fault.ts'
import { RESOURCE_GRAPH } from '../../../shared/graph/resource-graph.ts'
import { TRANSFORM } from '../../../shared/graph/transform.ts'
import {
  kindKeyOf,
  type ObjectRef,
  titleOf as titleOfRef,
} from '../../../shared/graph-engine/node.ts'
import { COMMAND_LIMIT, denial, explanation, type Line, warnings } from '../../server/wording.ts'
import type { Deleted, Owned, Rendered } from '../decide/verdict.ts'

/** How many objects, faults or violations are named one by one; the rest is a count. */
const NAMED = 5

/** The message of a refusal of what can never be applied. */
export function faultDenial(causes: readonly Cause[], incoming: KubeObject): string {
  const [only, ...others] = causes
  const title = titleOf(incoming)
  if (only && others.length === 0) return denial(`${title}: ${causeText(only)}`, [])
  const shown = causes.slice(0, NAMED).map((cause) => explanation(1, causeText(cause)))
  return denial(`${title} has ${causes.length} faults:`, [...shown, ...more(causes.length - NAMED)])
}

const more = (count: number): readonly Line[] =>
  count > 0 ? [explanation(0, `and ${count} more`)] : []

/** The message of a refusal of objects that are another Transform's. */
export const ownedDenial = (owned: readonly Owned[], incoming: KubeObject): string =>
  denial(`${titleOf(incoming)} would take what is another’s:`, [
    ...owned.slice(0, NAMED).map((one) => explanation(1, ownedText(one))),
    ...more(owned.length - NAMED),
    explanation(0, 'Name another object, or have the other Transform let it go first.'),
  ])

export const ownedText = ({ id, ref, by }: Owned) =>
  `${titleOfRef(ref)} (node ${id}) belongs to ${by}`

/** The message of a refusal of a write of a ResourceGraph, which has the name of its Transform. */
export function graphDenial({ metadata }: KubeObject, isDeletion: boolean): string {
  const title = titleOf({ kind: RESOURCE_GRAPH.kind, metadata })
  const verb = isDeletion ? 'delete' : 'edit'
  const { namespace, name } = metadata
  return denial(
    `${title} is written by the autopilot alone, from ${titleOf({ kind: TRANSFORM.kind, metadata })}: ${verb} that instead.`,
    [command(`kubectl ${verb} ${TRANSFORM.kind.toLowerCase()} ${name} -n ${namespace}`)],
  )
}

const command = (text: string): Line => ({
  rank: 0,
  wordings: byteLength(text) <= COMMAND_LIMIT ? [text] : [],
})

/** The warning that nothing was judged. */
export const unpreviewedWarnings = (why: string, incoming: KubeObject): readonly string[] =>
  warnings([
    explanation(
      0,
      `${titleOf(incoming)}: nothing was previewed, since ${why}. The reconciler decides: see its condition Ready.`,
    ),
  ])

/** The warnings about what is stored. */
export function renderedWarnings(
  { violations, warnings: others, pruned }: Rendered,
  incoming: KubeObject,
): readonly string[] {
  const violated = violations.map(({ name, path, message }) =>
    causeText({ field: path, message: `${message} (policy ${name})` }),
  )
  const texts = [...violated, ...others]
  const told = texts.slice(0, NAMED).map((text) => explanation(1, `${titleOf(incoming)}: ${text}`))
  return warnings([...prunedLines(pruned, incoming), ...told, ...more(texts.length - NAMED)])
}

function prunedLines(pruned: readonly ObjectRef[], incoming: KubeObject): readonly Line[] {
  if (pruned.length === 0) return []
  const [count, leaves] =
    pruned.length === 1
      ? ['one object', 'leaves its graph and is deleted']
      : [`${pruned.length} objects`, 'leave its graph and are deleted']
  const text = `${titleOf(incoming)}: ${count} ${leaves}: ${namesOf(pruned, NAMED)}.`
  return [explanation(0, text)]
}

/** The warnings about what goes with a Transform, and how to have it stay. */
export function deletionWarnings({ going, staying }: Deleted, old: KubeObject): readonly string[] {
  const data = going.filter(holdsData)
  const kept = staying
    .slice(0, NAMED)
    .map(({ ref, message }) => explanation(1, `${titleOfRef(ref)} ${message}.`))
  return warnings([
    ...named(0, going, (names) => `${titleOf(old)} takes with it, in this order: ${names}.`),
    ...named(0, data, (names) => `Data may be lost with ${names}.`),
    ...(going.length > 0 ? [wayOut(old)] : []),
    ...kept,
    ...more(staying.length - NAMED),
  ])
}

/** The warning about what stays where a Transform goes. */
export const orphanedWarnings = (left: readonly ObjectRef[], old: KubeObject): readonly string[] =>
  warnings(named(0, left, (names) => `${titleOf(old)} goes, and leaves as they are: ${names}.`))

// Too late for what is deleted now, in time for whoever tries it out.
const wayOut = ({ metadata: { namespace, name } }: KubeObject): Line =>
  command(
    `To keep all of it, before you delete it (--dry-run=server tries it out): kubectl patch ${TRANSFORM.kind.toLowerCase()} ${name} -n ${namespace} --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`,
  )

/** A line with the names of all objects, if there are any; where there is no room for all, with some. */
function named(
  rank: number,
  refs: readonly ObjectRef[],
  text: (names: string) => string,
): readonly Line[] {
  if (refs.length === 0) return []
  const wordings = [refs.length, NAMED, 1].map((count) => text(namesOf(refs, count)))
  return [{ rank, wordings: wordings.filter((one) => byteLength(one) <= NAMES_LIMIT) }]
}

// Bytes; with all its other warnings a deletion stays within what a client is sent.
const NAMES_LIMIT = 700

function namesOf(refs: readonly ObjectRef[], count: number): string {
  const shown = refs.slice(0, count).map(titleOfRef)
  const left = refs.length - shown.length
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join(', ')
}

// What cannot be had back by applying it again, or holds it.
const DATA: ReadonlySet<string> = new Set([
  '/PersistentVolumeClaim',
  '/PersistentVolume',
  '/Namespace',
  'apps/StatefulSet',
  'apiextensions.k8s.io/CustomResourceDefinition',
])
const holdsData = (ref: ObjectRef) => DATA.has(kindKeyOf(ref))
