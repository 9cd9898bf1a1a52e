import { groupOf, type KubeObject } from '../../engine/json/object.ts'
import type { Predicate } from '../node.ts'
import { conditionOf, describeCondition, isCurrent } from './object-status.ts'
import { readinessOf, terminating, unobserved } from './readiness.ts'
import { failed, inProgress, type Readiness, ready } from './rule.ts'

/**
 * Whether the node is ready by its own predicates, all of which must hold; without any, by the rules of its kind. Their
 * timeouts count from `appliedAt`; one that passed is an error until the predicate holds after all.
 */
export function nodeReadiness(
  object: KubeObject,
  predicates: readonly Predicate[],
  appliedAt: number | undefined,
  now: number,
): Readiness {
  if (predicates.length === 0) return readinessOf(object, now)
  const gone = terminating(object)
  if (gone) return gone
  const unmet = predicates.flatMap((predicate) => {
    const message = missing(object, predicate)
    return message === undefined ? [] : [{ predicate, message }]
  })
  const [first] = unmet
  if (!first) return ready('its predicates hold')
  const deadlines = unmet.flatMap(({ predicate, message }) => {
    const { timeout = 0 } = predicate
    const at = timeout > 0 && appliedAt !== undefined ? appliedAt + timeout * 1_000 : 0
    return at > 0 ? [{ at, message, timeout }] : []
  })
  const late = deadlines.find(({ at }) => at <= now)
  if (late) return failed(`not ready after ${late.timeout} s: ${late.message}`)
  return waiting(object, first.message, deadlines, now)
}

function waiting(
  object: KubeObject,
  message: string,
  deadlines: readonly { readonly at: number }[],
  now: number,
): Readiness {
  // What its kind calls failed will not come by waiting.
  const byKind = readinessOf(object, now)
  if (byKind.state === 'Failed') return failed(`${message}; ${byKind.message}`)
  const times = [
    ...deadlines.map(({ at }) => at),
    ...(byKind.lookAgainAt === undefined ? [] : [byKind.lookAgainAt]),
  ]
  const waits = inProgress(message)
  return times.length > 0 ? { ...waits, lookAgainAt: Math.min(...times) } : waits
}

/** What keeps the predicate from holding. */
function missing(object: KubeObject, predicate: Predicate): string | undefined {
  switch (predicate.type) {
    case 'Exists':
      return undefined
    case 'DeploymentAvailable':
      return object.kind === 'Deployment' && groupOf(object.apiVersion) === 'apps'
        ? missingCondition(object, 'Available', 'True')
        : 'is no Deployment'
    case 'ConditionMatch':
      return missingCondition(
        object,
        predicate.conditionType ?? '',
        predicate.conditionStatus ?? 'True',
      )
  }
}

function missingCondition(object: KubeObject, type: string, status: string): string | undefined {
  const stale = unobserved(object)
  if (stale) return stale.message
  const condition = conditionOf(object, type)
  if (!condition) return `has no condition ${type}`
  if (!isCurrent(object, condition))
    return `${describeCondition(condition)}, of an earlier generation`
  return condition.status === status ? undefined : describeCondition(condition)
}
