import { cut } from '../../engine/format-value.ts'
import { isEqual } from '../../engine/json/equal.ts'
import { groupOf, type KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'
import { differencesOf, verbOf } from './differences.ts'
import {
  DEFAULT_POLICIES,
  type DisruptionPolicies,
  type Effect,
  lookUpIn,
  type PolicyLookup,
  strongest,
} from './disruption-policies.ts'
import { isMachineConfig, withLivePayloads } from './live-payloads.ts'
import { type Change, reboots, specChanges } from './machine-config-changes.ts'

/** What a write does to the nodes of its pool, and why; the strongest reasons come first. */
export interface Classification {
  readonly effect: Effect
  readonly reasons: readonly string[]
}

/**
 * Says what it does to the nodes when `desired` takes live's place: both are whole objects, and a field that desired
 * leaves out counts as removed (where apply keeps such fields, pass its dry run). No live is a creation, no desired a
 * deletion. Payloads are compared as `withLivePayloads` leaves them. What is not known counts as a reboot.
 */
export function classifyChange({
  live,
  desired,
  policies = DEFAULT_POLICIES,
}: {
  readonly live: KubeObject | undefined
  readonly desired: KubeObject | undefined
  readonly policies?: DisruptionPolicies | undefined
}): Classification {
  const changes = changesOf(live, desired, lookUpIn(policies))
  const reasonsOf = (wanted: Effect) =>
    changes.filter(({ effect }) => effect === wanted).map(({ reason }) => reason)
  return {
    effect: strongest(changes.map(({ effect }) => effect)),
    reasons: [...reasonsOf('reboot'), ...reasonsOf('reload'), ...reasonsOf('none')],
  }
}

function changesOf(
  live: KubeObject | undefined,
  desired: KubeObject | undefined,
  policies: PolicyLookup,
): readonly Change[] {
  const object = desired ?? live
  if (!object || live === desired) return []
  if (live && desired && !isSameKind(live, desired)) {
    return [reboots(`${shown(live.kind)} replaced by a ${shown(desired.kind)}`)]
  }
  if (isMachineConfig(object)) return machineConfigChanges(live, desired, policies)
  if (!live || !desired) return [reboots(`${shown(object.kind)} ${verbOf(live, desired)}`)]
  return contentChanges(live, desired)
}

const isSameKind = (left: KubeObject, right: KubeObject) =>
  left.kind === right.kind && groupOf(left.apiVersion) === groupOf(right.apiVersion)

const shown = (kind: string) => cut(kind, 64)

/** The label of a MachineConfig that says to which pool's nodes it belongs. */
const ROLE_LABEL = 'machineconfiguration.openshift.io/role'

function machineConfigChanges(
  live: KubeObject | undefined,
  desired: KubeObject | undefined,
  policies: PolicyLookup,
): readonly Change[] {
  const wanted = live && desired ? withLivePayloads(desired, live) : desired
  return [
    ...(live && wanted ? roleChanges(live, wanted) : []),
    ...specChanges(live?.spec, wanted?.spec, policies),
    ...contentChanges({ ...live, spec: null }, { ...wanted, spec: null }),
  ]
}

/** Another role is another pool, whose nodes get what the others lose. */
const roleChanges = (live: KubeObject, desired: KubeObject): readonly Change[] => {
  const [before, after] = [live, desired].map((object) =>
    valueAt(object, ['metadata', 'labels', ROLE_LABEL]),
  )
  return isEqual(before, after) ? [] : [reboots(`label ${ROLE_LABEL} ${verbOf(before, after)}`)]
}

/** What differs outside of what no node is made of. */
const contentChanges = (live: object, desired: object): readonly Change[] =>
  differencesOf(contentOf(live), contentOf(desired), '').map(reboots)

const NO_CONTENT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status'])

const contentOf = (object: object) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !NO_CONTENT.has(name)))
