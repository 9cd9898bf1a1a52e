import { isMap, type KubeObject } from '../../engine/json/object.ts'
import { timeOf } from '../time.ts'
import { at, conditionOf, describeCondition, numberAt, textAt } from './object-status.ts'
import { failed, inProgress, type Readiness, type Rule, ready } from './rule.ts'

/** How long a scheduler may need before a pod that it cannot place is said to have failed. */
const SCHEDULE_MS = 15_000

/** kstatus calls a failed pod current; nothing that depends on it should go on. */
const pod: Rule = (object, now) => {
  const phase = textAt(object, 'status', 'phase')
  if (phase === 'Succeeded') return ready('has completed')
  if (phase === 'Failed') return failed(textAt(object, 'status', 'message') || 'has failed')
  return phase === 'Running' ? runningPod(object) : pendingPod(object, now)
}

const runningPod = (object: KubeObject): Readiness => {
  const condition = conditionOf(object, 'Ready')
  if (condition?.status === 'True') return ready('is ready')
  const crashing = crashingContainers(object)
  if (crashing.length > 0)
    return failed(`containers that crash again and again: ${crashing.join()}`)
  return inProgress(condition ? describeCondition(condition) : 'runs and is not ready yet')
}

const crashingContainers = (object: KubeObject): readonly string[] => {
  const statuses = at(object, 'status', 'containerStatuses')
  if (!Array.isArray(statuses)) return []
  return statuses
    .filter((status) => textAt(status, 'state', 'waiting', 'reason') === 'CrashLoopBackOff')
    .map((status) => textAt(status, 'name'))
}

const pendingPod = (object: KubeObject, now: number): Readiness => {
  const scheduled = conditionOf(object, 'PodScheduled')
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable')
    return inProgress('is pending')
  const failsAt = (timeOf(textAt(object, 'metadata', 'creationTimestamp')) ?? 0) + SCHEDULE_MS
  return now < failsAt
    ? { ...inProgress(describeCondition(scheduled)), lookAgainAt: failsAt }
    : failed(describeCondition(scheduled))
}

/** kstatus calls a Job that runs current; what depends on a Job waits for its work, not for its start. */
const job: Rule = (object) => {
  const [complete, failure] = [conditionOf(object, 'Complete'), conditionOf(object, 'Failed')]
  const succeeded = numberAt(object, ['status', 'succeeded'], 0)
  if (complete?.status === 'True') return ready(`has completed, pods that succeeded: ${succeeded}`)
  if (failure?.status === 'True') return failed(describeCondition(failure))
  if (at(object, 'spec', 'suspend') === true) return inProgress('is suspended')
  if (!textAt(object, 'status', 'startTime')) return inProgress('has not started yet')
  const active = numberAt(object, ['status', 'active'], 0)
  const failedPods = numberAt(object, ['status', 'failed'], 0)
  return inProgress(`pods active: ${active}, succeeded: ${succeeded}, failed: ${failedPods}`)
}

const persistentVolumeClaim: Rule = (object) => {
  const phase = textAt(object, 'status', 'phase')
  if (phase === 'Bound') return ready('is bound')
  if (phase === 'Lost') return failed('has lost its volume')
  return inProgress(
    'is not bound; if its storage class waits for the first consumer, let its node be ready when it exists (readyWhen: [{type: Exists}])',
  )
}

const service: Rule = (object) =>
  textAt(object, 'spec', 'type') === 'LoadBalancer' && !textAt(object, 'spec', 'clusterIP')
    ? inProgress('has no cluster IP yet')
    : ready('exists')

const namespace: Rule = (object) => {
  const phase = textAt(object, 'status', 'phase')
  return phase === 'Active' ? ready('is active') : inProgress('is not active yet')
}

/** Until its status says the limits, the API server refuses what they would be counted for. */
const resourceQuota: Rule = (object) => {
  const [wanted, known] = [at(object, 'spec', 'hard'), at(object, 'status', 'hard')]
  const names = isMap(wanted) ? Object.keys(wanted) : []
  const isKnown = names.every((name) => at(known, name) !== undefined)
  return isKnown ? ready('is in force') : inProgress('its limits are not in force yet')
}

const customResourceDefinition: Rule = (object) => {
  const [names, established] = [
    conditionOf(object, 'NamesAccepted'),
    conditionOf(object, 'Established'),
  ]
  if (names?.status === 'False') return failed(describeCondition(names))
  if (established?.status === 'True') return ready('is established')
  if (established?.status === 'False' && established.reason !== 'Installing')
    return failed(describeCondition(established))
  return inProgress('is being installed')
}

const apiService: Rule = (object) => {
  const available = conditionOf(object, 'Available')
  if (available?.status === 'True') return ready('is available')
  return inProgress(available ? describeCondition(available) : 'is not available yet')
}

/** Rules of the other kinds of Kubernetes itself that say whether they are ready, by group and kind. */
export const otherRules: Readonly<Record<string, Rule>> = {
  '/Namespace': namespace,
  '/PersistentVolumeClaim': persistentVolumeClaim,
  '/Pod': pod,
  '/ResourceQuota': resourceQuota,
  '/Service': service,
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinition,
  'apiregistration.k8s.io/APIService': apiService,
  'batch/Job': job,
}
