import { isMap, type KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'

type Labels = Readonly<Record<string, string>>

/** What is known of who watches over the health of nodes. */
export interface HealthCheckSources {
  readonly nodeLabels: readonly Labels[]
  readonly nodeHealthChecks: readonly KubeObject[]
  /** The names of those that the catalog manages. */
  readonly ownHealthChecks: readonly string[]
}

/**
 * Whether somebody else's NodeHealthCheck selects a node that ours select, which are those with the role worker: two checks of one
 * node can remediate it at the same time. One of masters alone disturbs only where masters are workers, too.
 */
export function hasForeignHealthCheck(sources: HealthCheckSources): boolean {
  const workers = sources.nodeLabels.filter((labels) => `${ROLE}worker` in labels)
  return sources.nodeHealthChecks
    .filter(({ metadata }) => !sources.ownHealthChecks.includes(metadata.name))
    .some((check) => {
      const requirements = requirementsOf(valueAt(check, ['spec', 'selector']))
      return workers.some((labels) => requirements.every((one) => mayMatch(one, labels)))
    })
}

const ROLE = 'node-role.kubernetes.io/'

interface Requirement {
  readonly key: string
  readonly operator: unknown
  readonly values: readonly unknown[]
}

/** All that a label selector asks for; an empty one asks for nothing and selects every node. */
function requirementsOf(selector: unknown): readonly Requirement[] {
  const labels = valueAt(selector, ['matchLabels'])
  const expressions = valueAt(selector, ['matchExpressions'])
  const equal = Object.entries(isMap(labels) ? labels : {})
  return [
    ...equal.map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...(Array.isArray(expressions) ? expressions.filter(isMap) : []).map(
      ({ key, operator, values }) => ({
        key: String(key),
        operator,
        values: Array.isArray(values) ? values : [],
      }),
    ),
  ]
}

// Of all labels only roles are sure to be kept of a node: any other is taken to match, since two checks of one node are worse
// than none of ours.
function mayMatch({ key, operator, values }: Requirement, labels: Labels): boolean {
  if (!key.startsWith(ROLE)) return true
  const value = labels[key]
  switch (operator) {
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    default:
      return true
  }
}

/** Where the template is that remediation refers to: of several, the one that its operator calls the default; empty for none. */
export function namespaceOfTemplate(templates: readonly KubeObject[]): string {
  const namespacesOf = (some: readonly KubeObject[]) =>
    some.map(({ metadata }) => metadata.namespace ?? '').sort()
  const [first = ''] = [...namespacesOf(templates.filter(isDefault)), ...namespacesOf(templates)]
  return first
}

const isDefault = ({ metadata }: KubeObject) =>
  metadata.labels?.['remediation.medik8s.io/default-template'] === 'true'
