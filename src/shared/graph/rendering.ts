import { isKubeObject, type JsonMap, memberOf } from '../engine/json/object.ts'
import type { GraphNode } from '../graph-engine/node.ts'
import type { GraphProblem } from '../graph-engine/validate/problem.ts'
import { validateNodes } from '../graph-engine/validate/validate.ts'
import type { Outcome, Rendered, Violation } from '../modules/evaluation.ts'
import type { ModuleError } from '../modules/module.ts'
import type { Cause, Fault } from './fault.ts'
import type { TransformSpec } from './transform.ts'

/** What came of a Transform: the nodes of its graph, or why there are none, and which policies it violates either way. */
export interface Rendering {
  readonly nodes?: readonly GraphNode[]
  readonly fault?: Fault
  readonly violations: readonly Violation[]
  /** What is in order and should not stay so. */
  readonly warnings: readonly string[]
}

export interface RenderingInput {
  readonly spec: Pick<TransformSpec, 'policies'>
  /** The Transform's. */
  readonly namespace: string
  readonly outcome: Outcome
  /** Whether objects of this kind are in no namespace. */
  readonly isClusterScoped: (apiVersion: string, kind: string) => boolean
}

/** Judges what came of an evaluation: the same for the webhook, the reconciler and the commands. */
export function renderingOf(input: RenderingInput): Rendering {
  const { outcome } = input
  if (outcome.kind !== 'Rendered') return { fault: faultOf(outcome), violations: [], warnings: [] }
  const { violations, refused } = withOverrides(input.spec, outcome)
  const errors = violations.filter(({ severity }) => severity === 'Error')
  if (refused.length > 0 || errors.length > 0) {
    const causes = [...refused, ...errors.map(violationCause)]
    return { fault: { reason: 'PolicyViolated', causes }, violations, warnings: [] }
  }
  return { ...graphOf(input, outcome), violations }
}

const violationCause = ({ name, path, message }: Violation): Cause => ({
  field: path,
  message: `${message} (policy ${name})`,
})

/** The violations with the severities that the Transform gives them, where the platform lets it. */
function withOverrides({ policies = [] }: RenderingInput['spec'], outcome: Rendered) {
  const overridable = new Set(outcome.overridable)
  const severities = new Map(policies.map(({ name, severity }) => [name, severity]))
  const refused = policies
    .map(({ name }) => name)
    .filter((name) => !overridable.has(name))
    .map(
      (name): Cause => ({
        field: 'spec.policies',
        message: `the platform does not let ${name} be overridden: ${overridableText(outcome)}`,
      }),
    )
  const violations = outcome.violations.map((violation) =>
    violation.source === 'platform' && overridable.has(violation.name)
      ? { ...violation, severity: severities.get(violation.name) ?? violation.severity }
      : violation,
  )
  return { violations, refused }
}

const overridableText = ({ overridable }: Rendered) =>
  overridable.length === 0 ? 'it lets none' : `only ${overridable.join(', ')}`

function graphOf({ namespace, isClusterScoped }: RenderingInput, { nodes: made }: Rendered) {
  const placed = made.map((node) => placedIn(namespace, node, isClusterScoped))
  const { problems, warnings, nodes } = validateNodes(placed)
  if (problems.length === 0) return { nodes, warnings: warnings.map(problemText) }
  const causes = problems.map(({ path, message }) => ({ field: `graph${path}`, message }))
  return { fault: { reason: 'GraphInvalid' as const, causes }, warnings: [] }
}

const problemText = ({ path, message }: GraphProblem) => `graph${path}: ${message}`

/**
 * The node with its object in the Transform's namespace, unless it says another one, or in none where its kind is in none: of
 * one object there is one name. What is no object is left to be judged.
 */
function placedIn(
  namespace: string,
  node: JsonMap,
  isClusterScoped: RenderingInput['isClusterScoped'],
): JsonMap {
  const object = memberOf(node, 'object')
  if (!isKubeObject(object)) return node
  const { apiVersion, kind, metadata } = object
  const { namespace: own = namespace, ...unplaced } = metadata
  const placed = isClusterScoped(apiVersion, kind) ? unplaced : { ...metadata, namespace: own }
  return { ...node, object: { ...object, metadata: placed } }
}

function faultOf(outcome: Exclude<Outcome, Rendered>): Fault {
  switch (outcome.kind) {
    case 'Refused':
      return refusedFault(outcome.errors)
    case 'TimedOut':
      return tooCostly(
        `its evaluation took more than ${outcome.deadlineMs / 1000} s: make it smaller`,
      )
    case 'TooMuch':
      return tooCostly(
        outcome.what === 'memory'
          ? 'its evaluation takes more memory than it may have: make it smaller'
          : 'what it makes is too large: make it smaller',
      )
    case 'Busy':
      return unavailable('others are being evaluated; trying again')
    case 'EvaluatorUnavailable':
      return unavailable(`${outcome.message}; what was applied before stays, and it is tried again`)
    default:
      return outcome satisfies never
  }
}

const tooCostly = (message: string): Fault => ({
  reason: 'EvaluationTooCostly',
  causes: [{ field: 'spec.cueRef', message: `the module is not evaluated to its end: ${message}` }],
})

const unavailable = (message: string): Fault => ({
  reason: 'EvaluatorUnavailable',
  causes: [{ field: '', message: `the module is not evaluated: ${message}` }],
})

function refusedFault(errors: readonly ModuleError[]): Fault {
  const isInput = errors.every(({ code }) => code === 'input')
  return { reason: isInput ? 'InputInvalid' : 'ModuleInvalid', causes: errors.map(errorCause) }
}

const errorCause = ({ path, message, position }: ModuleError): Cause => ({
  field: path,
  message: position === undefined ? message : `${message} (module ${position})`,
})
