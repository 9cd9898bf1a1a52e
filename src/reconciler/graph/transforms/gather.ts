import type { Client } from '../../../shared/cluster/client.ts'
import { impersonate } from '../../../shared/cluster/impersonate.ts'
import type { ServedKinds } from '../../../shared/cluster/served-kinds.ts'
import { isKubeObject, type JsonMap, memberOf } from '../../../shared/engine/json/object.ts'
import type { Result } from '../../../shared/engine/result.ts'
import type { Fault } from '../../../shared/graph/fault.ts'
import type { EmbeddedModules } from '../../../shared/graph/local-module.ts'
import { renderingOf } from '../../../shared/graph/rendering.ts'
import { accountOf, type Transform } from '../../../shared/graph/transform.ts'
import type { Evaluator } from '../../../shared/modules/evaluator.ts'
import type { Module } from '../../../shared/modules/module.ts'
import type { AccountFault } from '../enrolment.ts'
import type { TransformInput } from './decide.ts'
import { loadModule } from './load-module.ts'

export interface GatherDeps {
  readonly client: Client
  readonly kinds: ServedKinds
  readonly evaluator: Evaluator
  readonly embedded: EmbeddedModules
  /** The platform's policies, or why they cannot be used. */
  readonly policies: () => Result<Module, string>
  readonly accountFault: AccountFault
}

const EVALUATION_MS = 5_000
// Who waits for others of its own namespace takes no place from those of other namespaces meanwhile.
const TURN_MS = 500
const SUSPENDED: Fault = {
  reason: 'Suspended',
  causes: [{ field: 'spec.suspend', message: 'while it is true nothing is applied or pruned' }],
}

/** What came of a Transform's module, or what keeps it from being evaluated; `busy` where others of its namespace are before it. */
export async function gather(
  transform: Transform,
  deps: GatherDeps,
): Promise<Pick<TransformInput, 'fault' | 'module' | 'rendering'> | 'busy'> {
  const { client, kinds, embedded, evaluator, policies, accountFault } = deps
  const { metadata, status } = transform
  const { name, namespace = '' } = metadata
  if (transform.spec.suspend) return { fault: SUSPENDED }
  const account = accountOf(transform)
  const fault = await accountFault(account, status?.observedGeneration !== metadata.generation)
  if (fault) return { fault }
  const found = await loadModule(transform, { client: impersonate(client, account), embedded })
  if (!found.ok) return { fault: found.error }
  const module = found.value
  const platform = policies()
  if (!platform.ok) return { module, fault: withoutPolicies(platform.error) }
  const outcome = await evaluator.evaluate(
    {
      module,
      input: transform.spec.input,
      context: { name, namespace },
      policies: platform.value,
    },
    { deadlineMs: EVALUATION_MS, waitMs: TURN_MS, turnOf: namespace },
  )
  if (outcome.kind === 'Busy') return 'busy'
  if (outcome.kind === 'Rendered') await kinds.learn(outcome.nodes.flatMap(kindOf))
  const rendering = renderingOf({
    spec: transform.spec,
    namespace,
    outcome,
    isClusterScoped: (apiVersion, kind) => kinds.isClusterScoped({ apiVersion, kind }),
  })
  return { module, rendering }
}

// As without the program that evaluates: what is there stays.
const withoutPolicies = (message: string): Fault => ({
  reason: 'EvaluatorUnavailable',
  causes: [{ field: '', message }],
})

// What is no object yet is judged with the graph.
const kindOf = (node: JsonMap) => {
  const object = memberOf(node, 'object')
  return isKubeObject(object) ? [object] : []
}
