import type { KubeObject } from '../../engine/json/object.ts'
import { conditionOf, describeCondition, numberAt, textAt } from './object-status.ts'
import { failed, firstMissing, inProgress, type Readiness, type Rule, ready } from './rule.ts'

/** A status without observedGeneration is none: no controller has met the object, and its zeros mean nothing. */
const unseen = (object: KubeObject): Readiness | undefined =>
  Number.isNaN(numberAt(object, ['status', 'observedGeneration'], Number.NaN))
    ? inProgress('its controller has not seen it yet')
    : undefined

const replicasOf = (object: KubeObject) => numberAt(object, ['spec', 'replicas'], 1)

const count = (object: KubeObject, name: string) => numberAt(object, ['status', name], 0)

const surplus = (object: KubeObject): Readiness | undefined => {
  const more = count(object, 'replicas') - replicasOf(object)
  return more > 0 ? inProgress(`replicas of before still to go: ${more}`) : undefined
}

const deployment: Rule = (object) => unseen(object) ?? deadline(object) ?? rollout(object)

const deadline = (object: KubeObject): Readiness | undefined => {
  const progressing = conditionOf(object, 'Progressing')
  return progressing?.reason === 'ProgressDeadlineExceeded'
    ? failed(describeCondition(progressing))
    : undefined
}

/** Kubernetes takes this deadline for none, and then says nothing of progress. */
const NO_DEADLINE = 2 ** 31 - 1

const rollout = (object: KubeObject): Readiness => {
  const replicas = replicasOf(object)
  const missing =
    firstMissing([
      ['replicas', count(object, 'replicas'), replicas],
      ['updated replicas', count(object, 'updatedReplicas'), replicas],
    ]) ??
    surplus(object) ??
    firstMissing([
      ['available replicas', count(object, 'availableReplicas'), count(object, 'updatedReplicas')],
      ['ready replicas', count(object, 'readyReplicas'), replicas],
    ])
  return missing ?? rolledOut(object) ?? ready(`available replicas: ${replicas}/${replicas}`)
}

const rolledOut = (object: KubeObject): Readiness | undefined => {
  const progressing = conditionOf(object, 'Progressing')
  const hasDeadline =
    numberAt(object, ['spec', 'progressDeadlineSeconds'], NO_DEADLINE) !== NO_DEADLINE
  const isOver = progressing?.status === 'True' && progressing.reason === 'NewReplicaSetAvailable'
  if (hasDeadline && !isOver)
    return inProgress(progressing ? describeCondition(progressing) : 'has not rolled out yet')
  const available = conditionOf(object, 'Available')
  if (available?.status === 'True') return undefined
  return inProgress(available ? describeCondition(available) : 'is not available yet')
}

const replicaSet: Rule = (object) => {
  const replicas = replicasOf(object)
  const failure = conditionOf(object, 'ReplicaFailure')
  if (failure?.status === 'True') return inProgress(describeCondition(failure))
  return (
    unseen(object) ??
    firstMissing([
      ['labelled replicas', count(object, 'fullyLabeledReplicas'), replicas],
      ['available replicas', count(object, 'availableReplicas'), replicas],
      ['ready replicas', count(object, 'readyReplicas'), replicas],
    ]) ??
    surplus(object) ??
    ready(`available replicas: ${replicas}/${replicas}`)
  )
}

const statefulSet: Rule = (object) => {
  const replicas = replicasOf(object)
  // Whoever deletes the pods decides when they are new.
  if (textAt(object, 'spec', 'updateStrategy', 'type') === 'OnDelete')
    return ready('is updated as its pods are deleted')
  return (
    unseen(object) ??
    firstMissing([
      ['replicas', count(object, 'replicas'), replicas],
      ['ready replicas', count(object, 'readyReplicas'), replicas],
    ]) ??
    surplus(object) ??
    revision(object, replicas) ??
    ready(`ready replicas: ${replicas}/${replicas}`)
  )
}

const revision = (object: KubeObject, replicas: number): Readiness | undefined => {
  const partition = numberAt(object, ['spec', 'updateStrategy', 'rollingUpdate', 'partition'], 0)
  const updated = count(object, 'updatedReplicas')
  if (partition > 0)
    return firstMissing([['updated replicas', updated, Math.max(0, replicas - partition)]])
  const [current, update] = [
    textAt(object, 'status', 'currentRevision'),
    textAt(object, 'status', 'updateRevision'),
  ]
  if (current !== update) return inProgress(`updated replicas: ${updated}/${replicas}`)
  return firstMissing([['current replicas', count(object, 'currentReplicas'), replicas]])
}

const daemonSet: Rule = (object) => {
  const nodes = numberAt(object, ['status', 'desiredNumberScheduled'], Number.NaN)
  if (Number.isNaN(nodes)) return inProgress('its controller has not seen it yet')
  return (
    unseen(object) ??
    firstMissing([
      ['scheduled pods', count(object, 'currentNumberScheduled'), nodes],
      ['updated pods', count(object, 'updatedNumberScheduled'), nodes],
      ['available pods', count(object, 'numberAvailable'), nodes],
      ['ready pods', count(object, 'numberReady'), nodes],
    ]) ??
    ready(`available pods: ${nodes}/${nodes}`)
  )
}

const disruptionBudget: Rule = (object) => unseen(object) ?? ready('its controller has seen it')

/** Rules of what runs pods and of what protects them, by group and kind. */
export const workloadRules: Readonly<Record<string, Rule>> = {
  'apps/DaemonSet': daemonSet,
  'apps/Deployment': deployment,
  'apps/ReplicaSet': replicaSet,
  'apps/StatefulSet': statefulSet,
  'policy/PodDisruptionBudget': disruptionBudget,
}
