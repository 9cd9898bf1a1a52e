import { isMap } from '../../engine/json/object.ts'

type Labels = Readonly<Record<string, string>>

/**
 * Whether a LabelSelector selects an object with these labels, as the Machine Config Operator has it: one that is empty
 * or missing selects nothing. What is no operator is taken to match, so that no pool is overlooked.
 */
export function isSelected(selector: unknown, labels: Labels): boolean {
  if (!isMap(selector)) return false
  const wanted = isMap(selector.matchLabels) ? Object.entries(selector.matchLabels) : []
  const expressions = Array.isArray(selector.matchExpressions) ? selector.matchExpressions : []
  return (
    wanted.length + expressions.length > 0 &&
    wanted.every(([key, value]) => labels[key] === value) &&
    expressions.every((expression) => isMet(expression, labels))
  )
}

function isMet(expression: unknown, labels: Labels): boolean {
  if (!isMap(expression)) return true
  const { key, operator, values } = expression
  const label = labels[String(key)]
  const isListed = label !== undefined && Array.isArray(values) && values.includes(label)
  switch (operator) {
    case 'In':
      return isListed
    case 'NotIn':
      return !isListed
    case 'Exists':
      return label !== undefined
    case 'DoesNotExist':
      return label === undefined
    default:
      return true
  }
}
