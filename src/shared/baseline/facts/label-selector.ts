import { isMap } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'

export type Labels = Readonly<Record<string, string>>

/** One of the things that a LabelSelector asks for. */
export interface Requirement {
  readonly key: string
  readonly operator: unknown
  readonly values: readonly unknown[]
}

/** All that a LabelSelector asks for; an empty one asks for nothing. */
export function requirementsOf(selector: unknown): readonly Requirement[] {
  const labels = valueAt(selector, ['matchLabels'])
  const expressions = valueAt(selector, ['matchExpressions'])
  const equal = Object.entries(isMap(labels) ? labels : {})
  return [
    ...equal.map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...(Array.isArray(expressions) ? expressions : []).map((expression: unknown) => {
      const { key, operator, values } = isMap(expression) ? expression : {}
      return { key: String(key), operator, values: Array.isArray(values) ? values : [] }
    }),
  ]
}

/** Whether labels are as is asked for. What is no operator is taken to match, so that nothing is overlooked. */
export function isMet({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = labels[key]
  const isListed = value !== undefined && values.includes(value)
  switch (operator) {
    case 'In':
      return isListed
    case 'NotIn':
      return !isListed
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return true
  }
}

/** Whether a LabelSelector selects these labels, as the Machine Config Operator has it: one that is empty or missing selects nothing. */
export function isSelected(selector: unknown, labels: Labels): boolean {
  const requirements = requirementsOf(selector)
  return requirements.length > 0 && requirements.every((one) => isMet(one, labels))
}
