import type { Result } from '../../shared/engine/result.ts'
import { causeText, type Fault } from '../../shared/graph/fault.ts'
import { type Rendering, type RenderingInput, renderingOf } from '../../shared/graph/rendering.ts'
import type { Transform } from '../../shared/graph/transform.ts'
import type { RenderedNode } from '../../shared/modules/evaluation.ts'
import type { Evaluator } from '../../shared/modules/evaluator.ts'
import { folderModule } from '../../shared/modules/folder.ts'
import type { Module } from '../../shared/modules/module.ts'
import { UndecidedError } from '../run-cli.ts'
import { loadPolicies } from './modules.ts'

export interface PreviewDeps {
  readonly evaluator: Evaluator
  /** The platform's policies. */
  readonly policies: Module
  /** Given the nodes, so that it may ask about their kinds first. */
  readonly scopesOf: (nodes: readonly RenderedNode[]) => Promise<RenderingInput['isClusterScoped']>
}

// As long as the reconciler waits.
const EVALUATION_MS = 5_000

/** What a Transform is rendered to, as the reconciler would have it. Throws an UndecidedError where no evaluator answers. */
export async function preview(
  { metadata, spec }: Transform,
  module: Result<Module, Fault>,
  { evaluator, policies, scopesOf }: PreviewDeps,
): Promise<Rendering> {
  if (!module.ok) return { fault: module.error, violations: [], warnings: [] }
  const { name, namespace = '' } = metadata
  const outcome = await evaluator.evaluate(
    { module: module.value, input: spec.input, context: { name, namespace }, policies },
    { deadlineMs: EVALUATION_MS },
  )
  if (outcome.kind === 'EvaluatorUnavailable') throw new UndecidedError(outcome.message)
  const nodes = outcome.kind === 'Rendered' ? outcome.nodes : []
  return renderingOf({ spec, namespace, outcome, isClusterScoped: await scopesOf(nodes) })
}

/** The platform's policies: those that come with the program, or those of a folder. */
export function policiesAt(folder: string | undefined): Module {
  if (folder === undefined) return loadPolicies()
  const policies = folderModule(folder)
  if (policies.ok) return policies.value
  throw new Error(`${folder}: ${policies.error.message}`)
}

/** What a person should know of a rendering that has no fault, a sentence each. */
export const remarksOn = ({
  violations,
  warnings,
}: Pick<Rendering, 'violations' | 'warnings'>): readonly string[] => [
  ...violations
    .filter(({ severity }) => severity === 'Warning')
    .map(({ name, path, message }) =>
      causeText({ field: path, message: `${message} (policy ${name})` }),
    ),
  ...warnings,
]
