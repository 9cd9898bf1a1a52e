import { apiVersionOf } from '../../shared/api/custom-resource.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { type KindRef, ServedKinds } from '../../shared/cluster/served-kinds.ts'
import { type Source, Store } from '../../shared/cluster/store.ts'
import type { Result } from '../../shared/engine/result.ts'
import { POLICIES, policiesIn } from '../../shared/graph/platform-policies.ts'
import { RESOURCE_GRAPH, type ResourceGraph } from '../../shared/graph/resource-graph.ts'
import type { Module } from '../../shared/modules/module.ts'
import type { Log, TroubleTeller } from '../../shared/ops/log.ts'
import type { KnownKinds } from './preview.ts'
import { createSnapshot, type Snapshot } from './snapshot.ts'

export interface FollowedGraphs {
  readonly current: () => Snapshot
  readonly kinds: KnownKinds
  /** The platform's policies, or these, or why they cannot be used. */
  readonly policies: (shipped: Module) => Result<Module, string>
  /** What is missing for every decision to be made. */
  readonly obstacles: () => readonly string[]
  readonly start: () => void
}

export interface FollowOptions {
  readonly client: Client
  /** Our own. */
  readonly namespace: string
  readonly log: Log
  readonly tell: TroubleTeller
  readonly now: () => number
  readonly signal: AbortSignal
}

const RESOURCE_GRAPHS = {
  id: RESOURCE_GRAPH.plural,
  at: { apiVersion: apiVersionOf(RESOURCE_GRAPH), resource: RESOURCE_GRAPH.plural },
}
// Whoever asks for one that there always is learns of all.
const ANY_KIND: KindRef = { apiVersion: 'v1', kind: 'Namespace' }

/** Follows the ResourceGraphs, and which kinds are served, once it is started. */
export function followGraphs(options: FollowOptions): FollowedGraphs {
  const { client, namespace, log, tell, now, signal } = options
  const policies: Source = {
    id: POLICIES,
    at: { apiVersion: 'v1', resource: 'configmaps', namespace },
    name: POLICIES,
  }
  const served = new ServedKinds(client, now)
  const graphs = () => store.objects(RESOURCE_GRAPHS.id) as readonly ResourceGraph[]
  let snapshot: Snapshot | undefined
  const store = new Store({
    client,
    onTrouble: (id, error) => tell(`cannot read the ${id}; trying again`, error),
    onChange(id, key) {
      snapshot = undefined
      if (key !== undefined || id === POLICIES) return
      tell.recovered()
      log.info({ graphs: graphs().length }, 'graphs loaded')
    },
  })
  signal.addEventListener('abort', () => store.stop())
  const learn = (kinds: readonly KindRef[]) => {
    served
      .learn(kinds)
      .catch((error: Error) => tell('cannot ask which kinds are served; trying again', error))
  }
  return {
    current() {
      snapshot ??= createSnapshot(graphs())
      return snapshot
    },
    policies: (shipped) => policiesIn(store.object(POLICIES), shipped),
    kinds: {
      isKnown: (kind) => served.resourceOf(kind, undefined) !== undefined,
      isClusterScoped: (kind) => served.isClusterScoped(kind),
      wanted: learn,
    },
    obstacles: () =>
      store.isSynced([RESOURCE_GRAPHS.id, POLICIES])
        ? []
        : ['the ResourceGraphs and the policies are not read yet'],
    start() {
      learn([ANY_KIND])
      store.follow('snapshot', [RESOURCE_GRAPHS, policies])
    },
  }
}
