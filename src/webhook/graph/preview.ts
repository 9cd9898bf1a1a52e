import type { KindRef } from '../../shared/cluster/served-kinds.ts'
import { isKubeObject } from '../../shared/engine/json/object.ts'
import type { Result } from '../../shared/engine/result.ts'
import type { Fault } from '../../shared/graph/fault.ts'
import { type EmbeddedModules, localModule } from '../../shared/graph/local-module.ts'
import { type Rendering, renderingOf } from '../../shared/graph/rendering.ts'
import type { Transform } from '../../shared/graph/transform.ts'
import type { Outcome, Rendered } from '../../shared/modules/evaluation.ts'
import type { Evaluator } from '../../shared/modules/evaluator.ts'
import type { Module } from '../../shared/modules/module.ts'

/** What is known of what a Transform would become. */
export type Preview =
  /** Its module is to be fetched, which is not done here. */
  | { readonly kind: 'elsewhere' }
  /** It is not known, and why. */
  | { readonly kind: 'unevaluated'; readonly why: string }
  | { readonly kind: 'faulty'; readonly fault: Fault }
  | {
      readonly kind: 'rendered'
      readonly rendering: Rendering
      /** Whether all kinds in it are known, and with that which objects are in namespaces. */
      readonly isPlaced: boolean
    }

export interface PreviewDeps {
  readonly embedded: EmbeddedModules
  /** The platform's. */
  readonly policies: () => Result<Module, string>
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  /** Which kinds are served, as far as it is known. */
  readonly kinds: KnownKinds
}

export interface KnownKinds {
  readonly isKnown: (kind: KindRef) => boolean
  readonly isClusterScoped: (kind: KindRef) => boolean
  /** Asked for in the background: the next one who needs them knows them. */
  readonly wanted: (kinds: readonly KindRef[]) => void
}

// Together less than the second after which the API server waits no longer, unless it is told otherwise.
const DEADLINE_MS = 500
const WAIT_MS = 250

/** Renders a Transform without network, within a time that its author does not notice. */
export async function previewOf(
  { metadata: { name, namespace = '' }, spec }: Transform,
  { embedded, policies, evaluator, kinds }: PreviewDeps,
): Promise<Preview> {
  const found = localModule(spec.cueRef, embedded)
  if (!found) return { kind: 'elsewhere' }
  if (!found.ok) return { kind: 'faulty', fault: found.error }
  const platform = policies()
  if (!platform.ok) return { kind: 'unevaluated', why: platform.error }
  const outcome = await evaluator.evaluate(
    {
      module: found.value,
      input: spec.input,
      context: { name, namespace },
      policies: platform.value,
    },
    { deadlineMs: DEADLINE_MS, waitMs: WAIT_MS, turnOf: namespace },
  )
  const why = whyNot(outcome)
  if (why !== undefined) return { kind: 'unevaluated', why }
  const isClusterScoped = (apiVersion: string, kind: string) =>
    kinds.isClusterScoped({ apiVersion, kind })
  const rendering = renderingOf({ spec, namespace, outcome, isClusterScoped })
  if (rendering.fault) return { kind: 'faulty', fault: rendering.fault }
  const unknown = outcome.kind === 'Rendered' ? unknownIn(outcome, kinds) : []
  if (unknown.length > 0) kinds.wanted(unknown)
  return { kind: 'rendered', rendering, isPlaced: unknown.length === 0 }
}

const unknownIn = ({ nodes }: Rendered, { isKnown }: KnownKinds) =>
  nodes
    .map(({ object }) => object)
    .filter(isKubeObject)
    .filter((object) => !isKnown(object))

/** Why an evaluation says nothing of the Transform: the reconciler has more time, and another try. */
function whyNot(outcome: Outcome): string | undefined {
  switch (outcome.kind) {
    case 'TimedOut':
      return `its evaluation takes more than ${outcome.deadlineMs / 1000} s`
    case 'TooMuch':
      return `its evaluation makes too much ${outcome.what}`
    case 'Busy':
      return 'others are being evaluated'
    case 'EvaluatorUnavailable':
      return outcome.message
    default:
      return undefined
  }
}
