import type { KubeObject } from '../../engine/json/object.ts'
import { valueAt } from '../../engine/json/pointer.ts'
import { isMet, type Labels, type Requirement, requirementsOf } from './label-selector.ts'
import { isMaster, ROLE } from './node-roles.ts'

/** What is known of who watches over the health of nodes. */
export interface HealthCheckSources {
  readonly nodeLabels: readonly Labels[]
  readonly nodeHealthChecks: readonly KubeObject[]
  /** The names of those that the catalog manages. */
  readonly ownHealthChecks: readonly string[]
}

/** Whether somebody else's NodeHealthCheck selects a node that ours do, for masters and for other workers: two could remediate one at a time. */
export function foreignHealthChecks(sources: HealthCheckSources) {
  const selectors = sources.nodeHealthChecks
    .filter(({ metadata }) => !sources.ownHealthChecks.includes(metadata.name))
    .map((check) => requirementsOf(valueAt(check, ['spec', 'selector'])))
  const isSelected = (labels: Labels) =>
    selectors.some((requirements) => requirements.every((one) => mayMatch(one, labels)))
  const isWorker = (labels: Labels) => `${ROLE}worker` in labels && !isMaster(labels)
  return {
    foreignNodeHealthCheck: sources.nodeLabels.filter(isWorker).some(isSelected),
    foreignMasterNodeHealthCheck: sources.nodeLabels.filter(isMaster).some(isSelected),
  }
}

// Of all labels only roles are sure to be kept of a node: any other is taken to match, since two checks of one node are worse
// than none of ours.
const mayMatch = (requirement: Requirement, labels: Labels) =>
  !requirement.key.startsWith(ROLE) || isMet(requirement, labels)

/** Where the template is that remediation refers to: of several, the one that its operator calls the default; empty for none. */
export function namespaceOfTemplate(templates: readonly KubeObject[]): string {
  const namespacesOf = (some: readonly KubeObject[]) =>
    some.map(({ metadata }) => metadata.namespace ?? '').sort()
  const [first = ''] = [...namespacesOf(templates.filter(isDefault)), ...namespacesOf(templates)]
  return first
}

const isDefault = ({ metadata }: KubeObject) =>
  metadata.labels?.['remediation.medik8s.io/default-template'] === 'true'
