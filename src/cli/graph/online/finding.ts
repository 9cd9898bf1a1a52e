import { escapeControls, formatValue } from '../../../shared/engine/format-value.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { isListIndex, parsePointer, valueAt } from '../../../shared/engine/json/pointer.ts'
import { type Difference, differingFields } from '../../../shared/graph-engine/diff.ts'
import { type GraphNode, keyOf, titleOf } from '../../../shared/graph-engine/node.ts'
import type { Observation } from '../../../shared/graph-engine/step/observed.ts'

/** What would become of one object. */
export interface Finding {
  /** Of its node, or of the node that it was applied for. */
  readonly id: string
  /** As people name it. */
  readonly object: string
  readonly action: 'create' | 'change' | 'delete' | 'leave' | 'refuse' | 'none' | 'unknown'
  /** Why it is left, refused or not known. */
  readonly message?: string
  readonly changes?: readonly FieldChange[]
}

interface FieldChange {
  readonly pointer: string
  /** Absent within a list, where one item may stand at different places. */
  readonly from?: string
  readonly to: string
}

const ACTIONS = {
  created: 'create',
  changed: 'change',
  unchanged: 'none',
  refused: 'refuse',
  pruned: 'delete',
  left: 'leave',
} as const satisfies Readonly<Record<Difference['kind'], Finding['action']>>

/** A difference in words that need no code of ours to be understood. */
export function findingOn(
  { kind, id, ref, message, fields }: Difference,
  known: {
    readonly nodes: readonly GraphNode[]
    readonly objects: ReadonlyMap<string, Observation>
  },
): Finding {
  const about = { id, object: titleOf(ref) }
  const observation = known.objects.get(keyOf(ref))
  if (observation?.state === 'unreadable')
    return { ...about, action: 'unknown', message: observation.reason }
  const desired = known.nodes.find((node) => node.id === id)?.object
  const live = observation?.state === 'present' ? observation.object : undefined
  const changes = fields
    ?.flatMap((field) => leavesOf(field, desired, live))
    .map((pointer) => changeOf(pointer, desired, live))
  return {
    ...about,
    action: ACTIONS[kind],
    ...(message !== undefined && { message }),
    ...(changes && { changes }),
  }
}

/** What differs of a field, which may be a whole map; the field itself where only its owner does. */
function leavesOf(
  field: string,
  desired: KubeObject | undefined,
  live: KubeObject | undefined,
): readonly string[] {
  if (!(desired && live)) return [field]
  const within = differingFields(desired, live).filter((one) => `${one}/`.startsWith(`${field}/`))
  return within.length > 0 ? within : [field]
}

const VALUE_LIMIT = 200

function changeOf(
  pointer: string,
  desired: KubeObject | undefined,
  live: KubeObject | undefined,
): FieldChange {
  const parsed = parsePointer(pointer)
  const tokens = parsed.ok ? parsed.value : []
  const shown = (object: KubeObject | undefined) =>
    formatValue(pointer, valueAt(object, tokens), VALUE_LIMIT)
  const from = tokens.some(isListIndex) ? {} : { from: shown(live) }
  return { pointer, ...from, to: shown(desired) }
}

/** How `graph diff` prints, by the name of its `-o`. */
export const FORMATS = { text, json } as const

const VERBS: Readonly<Record<Finding['action'], string>> = {
  create: 'would be created',
  change: 'would be changed',
  delete: 'would be deleted',
  leave: 'leaves the graph and',
  refuse: 'is not applied: it',
  none: 'stays as it is',
  unknown: 'is not known',
}

/** What would change alone; nothing at all where nothing would. */
function text(findings: readonly Finding[]): string {
  return findings
    .filter(({ action }) => action !== 'none' && action !== 'unknown')
    .flatMap(({ id, object, action, message, changes = [] }) => {
      const said = message === undefined ? VERBS[action] : `${VERBS[action]} ${message}`
      return [`${object} (${id}): ${said}`, ...changes.map(changeLine)]
    })
    .map((line) => `${escapeControls(line)}\n`)
    .join('')
}

const changeLine = ({ pointer, from, to }: FieldChange) =>
  from === undefined ? `  ${pointer} → ${to}` : `  ${pointer} ${from} → ${to}`

/** Every object, for scripts. */
function json(findings: readonly Finding[]): string {
  return `${JSON.stringify({ objects: findings }, undefined, 2)}\n`
}
