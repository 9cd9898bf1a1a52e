import { groupOf, type KubeObject } from '../../engine/json/object.ts'
import { timeOf } from '../time.ts'
import {
  conditionOf,
  conditionsOf,
  describeCondition,
  isCurrent,
  numberAt,
  textAt,
} from './object-status.ts'
import { otherRules } from './other-kinds.ts'
import { failed, inProgress, type Readiness, type Rule, ready } from './rule.ts'
import { workloadRules } from './workloads.ts'

const RULES: Readonly<Record<string, Rule>> = { ...workloadRules, ...otherRules }

/** How long an object that says nothing of itself must have existed: its controller may not have met it yet. */
const DWELL_MS = 2_000

/** Whether a live object does what it is there for: the rules of kstatus, with the deviations that the rules themselves name. */
export function readinessOf(object: KubeObject, now: number): Readiness {
  return (
    terminating(object) ?? unobserved(object) ?? byStandardConditions(object) ?? byKind(object, now)
  )
}

export const terminating = (object: KubeObject): Readiness | undefined =>
  object.metadata.deletionTimestamp
    ? { state: 'Terminating', message: describeTermination(object) }
    : undefined

/** Since when an object is being deleted and, as far as it says so itself, what holds that up. */
export function describeTermination(object: KubeObject): string {
  const { deletionTimestamp, finalizers } = object.metadata
  const names =
    Array.isArray(finalizers) && finalizers.length > 0
      ? ` (finalizers: ${finalizers.join(', ')})`
      : ''
  const obstacle = conditionsOf(object).find(
    ({ type, status }) => status === 'True' && NAMESPACE_OBSTACLES.has(type),
  )
  const words = obstacle ? `: ${describeCondition(obstacle)}` : ''
  return `is being deleted since ${deletionTimestamp}${names}${words}`
}

/** The conditions by which a Namespace says what is still in it, the telling ones of them. */
const NAMESPACE_OBSTACLES = new Set([
  'NamespaceDeletionDiscoveryFailure',
  'NamespaceDeletionGroupVersionParsingFailure',
  'NamespaceDeletionContentFailure',
  'NamespaceContentRemaining',
  'NamespaceFinalizersRemaining',
])

/** While the status is about an earlier generation it says nothing about this one. */
export function unobserved(object: KubeObject): Readiness | undefined {
  const { generation } = object.metadata
  const observed = numberAt(object, ['status', 'observedGeneration'], Number.NaN)
  if (generation === undefined || Number.isNaN(observed) || observed === generation)
    return undefined
  return inProgress(`its controller has seen generation ${observed} and not yet ${generation}`)
}

function byStandardConditions(object: KubeObject): Readiness | undefined {
  const stalled = conditionOf(object, 'Stalled')
  if (stalled?.status === 'True') return failed(describeCondition(stalled))
  const reconciling = conditionOf(object, 'Reconciling')
  return reconciling?.status === 'True' ? inProgress(describeCondition(reconciling)) : undefined
}

function byKind(object: KubeObject, now: number): Readiness {
  const group = groupOf(object.apiVersion)
  const key = `${group}/${object.kind}`
  const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined
  if (rule) return rule(object, now)
  // The other kinds of Kubernetes itself are in force once they are stored.
  if (isBuiltIn(group)) return ready('exists')
  return byReadyCondition(object) ?? byAge(object, now)
}

const BUILT_IN = new Set(['', 'apps', 'autoscaling', 'batch', 'policy'])

const isBuiltIn = (group: string) => BUILT_IN.has(group) || BUILT_IN_SUFFIX.test(group)

// Of *.k8s.io those that the API server itself serves: others are those of projects, such as gateway.networking.k8s.io.
const BUILT_IN_SUFFIX =
  /^(admissionregistration|apiextensions|apiregistration|authentication|authorization|certificates|coordination|discovery|events|flowcontrol\.apiserver|internal\.apiserver|networking|node|rbac\.authorization|resource|scheduling|storage|storagemigration)\.k8s\.io$/

/** What controllers call it, the most usual first. */
const READY_LIKE = ['Ready', 'Available', 'Healthy', 'Succeeded', 'Completed', 'Complete']

function byReadyCondition(object: KubeObject): Readiness | undefined {
  const conditions = conditionsOf(object)
  const [condition] = READY_LIKE.flatMap((type) => conditions.filter((one) => one.type === type))
  if (!condition) return undefined
  const words = describeCondition(condition)
  if (!isCurrent(object, condition)) return inProgress(`${words}, of an earlier generation`)
  return condition.status === 'True' ? ready(words) : inProgress(words)
}

function byAge(object: KubeObject, now: number): Readiness {
  if (!Number.isNaN(numberAt(object, ['status', 'observedGeneration'], Number.NaN)))
    return ready('its controller has seen it; it has no condition of readiness')
  const readyAt = (timeOf(textAt(object, 'metadata', 'creationTimestamp')) ?? 0) + DWELL_MS
  return now < readyAt
    ? { ...inProgress('was just created and says nothing of itself yet'), lookAgainAt: readyAt }
    : ready('exists; this kind does not tell whether it is ready')
}
