import { type Condition, conditionsFrom, type Finding } from '../../../shared/api/conditions.ts'
import { apiVersionOf } from '../../../shared/api/custom-resource.ts'
import { titleOf } from '../../../shared/engine/json/object.ts'
import { type Fault, faultMessage, isStalled } from '../../../shared/graph/fault.ts'
import { graphSpec } from '../../../shared/graph/graph-spec.ts'
import type { Rendering } from '../../../shared/graph/rendering.ts'
import {
  RESOURCE_GRAPH,
  type ResourceGraph,
  type ResourceGraphSpec,
} from '../../../shared/graph/resource-graph.ts'
import type { Transform, TransformStatus } from '../../../shared/graph/transform.ts'
import type { Module } from '../../../shared/modules/module.ts'

/** What a Transform's decision is made from. */
export interface TransformInput {
  readonly transform: Transform
  /** What keeps it from being rendered at all. */
  readonly fault?: Fault
  /** The module in force, as far as it was found. */
  readonly module?: Module
  readonly rendering?: Rendering
  /** Its ResourceGraph, as it is stored. */
  readonly graph: ResourceGraph | undefined
  readonly now: string
  readonly digest: (text: string) => string
}

export interface TransformDecision {
  /** What its ResourceGraph is to say; undefined where it stays as it is. */
  readonly spec?: ResourceGraphSpec
  readonly status: TransformStatus
}

/** What is to be written for a Transform. Where it cannot be rendered its graph stays as it is, and nothing is pruned. */
export function decideTransform(input: TransformInput): TransformDecision {
  const { transform, rendering, module, graph, now } = input
  const before = transform.status
  const fault = input.fault ?? rendering?.fault
  const spec = specOf(input)
  const fetched = module && {
    digest: module.digest,
    fetchedAt:
      before?.resolvedCueRef?.digest === module.digest ? before.resolvedCueRef.fetchedAt : now,
  }
  const resolvedCueRef = fetched ?? before?.resolvedCueRef
  const generation = transform.metadata.generation ?? 0
  const findings = fault ? faultFindings(fault, module) : renderedFindings(spec, graph)
  return {
    ...(spec && { spec }),
    status: {
      observedGeneration: generation,
      conditions: conditionsFrom(findings, before?.conditions as readonly Condition[], {
        generation,
        now,
      }),
      ...(graph && { resourceGraphRef: referenceTo(graph) }),
      ...(resolvedCueRef && { resolvedCueRef }),
      ...(rendering && rendering.violations.length > 0 && { violations: rendering.violations }),
    },
  }
}

function specOf({ transform, rendering, module, graph, now, digest }: TransformInput) {
  if (!(module && rendering?.nodes)) return undefined
  const { nodes } = rendering
  const before = graph?.spec
  return graphSpec({ transform, module, nodes, before, now: now, digest })
}

const referenceTo = ({ metadata: { namespace = '', name, uid = '' } }: ResourceGraph) => ({
  apiVersion: apiVersionOf(RESOURCE_GRAPH),
  kind: RESOURCE_GRAPH.kind,
  namespace,
  name,
  uid,
})

const is = (type: string, status: Finding['status'], reason: string, message: string): Finding => ({
  type,
  status,
  reason,
  message,
})

// In the order in which a Transform gets there: what comes after the one at fault is not known.
const STAGE: Readonly<
  Record<Fault['reason'], 'CueFetched' | 'Validated' | 'Rendered' | undefined>
> = {
  Suspended: undefined,
  NotEnrolled: undefined,
  AccountNotFound: undefined,
  Forbidden: 'CueFetched',
  ModuleNotFound: 'CueFetched',
  EvaluatorUnavailable: 'Validated',
  EvaluationTooCostly: 'Validated',
  ModuleInvalid: 'Validated',
  InputInvalid: 'Validated',
  PolicyViolated: 'Validated',
  GraphInvalid: 'Rendered',
}

function faultFindings(fault: Fault, module: Module | undefined): readonly Finding[] {
  const { reason } = fault
  const message = faultMessage(fault)
  const stage = STAGE[reason]
  return [
    is('Ready', 'False', reason, message),
    ...(isStalled(fault) ? [is('Stalled', 'True', reason, message)] : []),
    ...(module && stage !== 'CueFetched' ? [fetchedFinding] : []),
    ...(stage === 'Rendered' ? [validFinding] : []),
    ...(stage ? [is(stage, 'False', reason, message)] : []),
  ]
}

const fetchedFinding = is('CueFetched', 'True', 'Fetched', 'the module is there')
const validFinding = is('Validated', 'True', 'Valid', 'the input fits the module')

const renderedFindings = (
  spec: ResourceGraphSpec | undefined,
  graph: ResourceGraph | undefined,
): readonly Finding[] => [
  readyFinding(spec, graph),
  fetchedFinding,
  validFinding,
  is('Rendered', 'True', 'Rendered', `a graph of ${spec?.nodes.length ?? 0} nodes`),
]

/** Ready as the graph is, once the graph is about what was rendered now. */
function readyFinding(
  spec: ResourceGraphSpec | undefined,
  graph: ResourceGraph | undefined,
): Finding {
  const isCurrent =
    graph?.spec.metadata.renderHash === spec?.metadata.renderHash &&
    graph?.status?.observedGeneration === graph?.metadata.generation
  const ready = graph?.status?.conditions?.find(({ type }) => type === 'Ready')
  if (graph && isCurrent && ready) return is('Ready', ready.status, ready.reason, ready.message)
  const what = graph ? titleOf(graph) : RESOURCE_GRAPH.kind
  return is('Ready', 'False', 'Progressing', `${what} is not applied yet`)
}
