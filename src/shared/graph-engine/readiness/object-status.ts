import { isMap, type JsonMap, type KubeObject, memberOf } from '../../engine/json/object.ts'

/** What is found down these names; undefined where there is nothing. */
export const at = (object: unknown, ...names: readonly string[]): unknown =>
  names.reduce(memberOf, object)

export const numberAt = (object: unknown, names: readonly string[], otherwise: number): number => {
  const value = at(object, ...names)
  return typeof value === 'number' ? value : otherwise
}

export const textAt = (object: unknown, ...names: readonly string[]): string => {
  const value = at(object, ...names)
  return typeof value === 'string' ? value : ''
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly observedGeneration: number | undefined
}

export const conditionsOf = (object: KubeObject): readonly Condition[] => {
  const conditions = at(object, 'status', 'conditions')
  return Array.isArray(conditions) ? conditions.filter(isMap).map(conditionFrom) : []
}

const conditionFrom = (condition: JsonMap): Condition => {
  const { observedGeneration } = condition
  return {
    type: textAt(condition, 'type'),
    status: textAt(condition, 'status'),
    reason: textAt(condition, 'reason'),
    message: textAt(condition, 'message'),
    observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : undefined,
  }
}

export const conditionOf = (object: KubeObject, type: string) =>
  conditionsOf(object).find((condition) => condition.type === type)

/** Whether the condition is about the object as it is now; one that does not say is taken to be. */
export const isCurrent = (object: KubeObject, { observedGeneration }: Condition) =>
  observedGeneration === undefined || observedGeneration >= (object.metadata.generation ?? 0)

/** The condition's own words: `Available=False (MinimumReplicasUnavailable): …`. */
export const describeCondition = ({ type, status, reason, message }: Condition) =>
  `${type}=${status}${reason && ` (${reason})`}${message && `: ${message}`}`
