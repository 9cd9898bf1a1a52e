import type { Client } from '../../shared/cluster/client.ts'
import { type KindRef, ServedKinds } from '../../shared/cluster/served-kinds.ts'
import { Store } from '../../shared/cluster/store.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import type { ResourceGraph } from '../../shared/graph/resource-graph.ts'
import { RESOURCE_GRAPHS, resourceGraphOf } from '../../shared/graph/sources.ts'
import { inventoryIn } from '../../shared/graph/stored-inventory.ts'
import type { InventoryItem } from '../../shared/graph-engine/inventory.ts'
import { keyOf } from '../../shared/graph-engine/node.ts'
import type { Log, TroubleTeller } from '../../shared/ops/log.ts'
import type { KnownKinds } from './preview.ts'

/** What is known of the cluster: what every graph has in it. */
export interface Snapshot {
  /** The ResourceGraph of a Transform, which is not one of an earlier Transform of its name. */
  readonly graphOf: (transform: KubeObject) => ResourceGraph | undefined
  /** The Transform other than this one whose graph has an object, as `namespace/name`; undefined where this one's has it too. */
  readonly holderOf: (object: string, except: string) => string | undefined
}

export interface FollowedGraphs {
  readonly snapshot: Snapshot
  readonly kinds: KnownKinds
  /** What is missing for every decision to be made. */
  readonly obstacles: () => readonly string[]
  readonly start: () => void
}

export interface FollowOptions {
  readonly client: Client
  readonly log: Log
  readonly tell: TroubleTeller
  readonly now: () => number
  readonly signal: AbortSignal
}

// Whoever asks for these learns of all.
const ANY_KIND: KindRef = { apiVersion: 'v1', kind: 'Namespace' }

/** Follows the ResourceGraphs, once it is started. */
export function followGraphs({ client, log, tell, now, signal }: FollowOptions): FollowedGraphs {
  const served = new ServedKinds(client, now)
  let holders: Holders | undefined
  const store = new Store({
    client,
    onTrouble: (id, error) => tell(`cannot read the ${id}; trying again`, error),
    onChange: (_id, key) => {
      holders = undefined
      if (key !== undefined) return
      tell.recovered()
      log.info({ graphs: graphs().length }, 'graphs loaded')
    },
  })
  const graphs = () => store.objects(RESOURCE_GRAPHS.id) as readonly ResourceGraph[]
  const learn = (kinds: readonly KindRef[]) =>
    served.learn(kinds).catch((error: Error) => tell('cannot ask which kinds are served', error))
  signal.addEventListener('abort', () => store.stop())
  return {
    snapshot: {
      graphOf({ metadata: { namespace, name, uid } }) {
        const graph = resourceGraphOf(store, `${namespace}/${name}`)
        return graph?.spec.sourceRef.uid === uid ? graph : undefined
      },
      holderOf(object, except) {
        holders ??= holdersIn(graphs())
        const all = holders.get(object) ?? []
        return all.includes(except) ? undefined : all[0]
      },
    },
    kinds: {
      isKnown: (kind) => served.resourceOf(kind, undefined) !== undefined,
      isClusterScoped: (kind) => served.isClusterScoped(kind),
      wanted: (kinds) => void learn(kinds),
    },
    obstacles: () =>
      store.isSynced([RESOURCE_GRAPHS.id]) ? [] : ['the ResourceGraphs are not read yet'],
    start() {
      void learn([ANY_KIND])
      store.follow('snapshot', [RESOURCE_GRAPHS])
    },
  }
}

/** The Transforms that have an object, by its key. */
type Holders = ReadonlyMap<string, readonly string[]>

// What was never applied is perhaps another's, and what left the graph is about to be anybody's.
const isHeld = ({ uid, removedAt, state }: InventoryItem) =>
  uid !== undefined && removedAt === undefined && state !== 'Orphaned'

/** Which Transforms have which objects. */
export function holdersIn(graphs: readonly ResourceGraph[]): Holders {
  const held = graphs
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .flatMap((graph) => {
      const { namespace, name } = graph.metadata
      const held = inventoryIn(graph).filter(isHeld)
      return held.map((item) => [keyOf(item), `${namespace}/${name}`] as const)
    })
  const byObject = Map.groupBy(held, ([object]) => object)
  return new Map([...byObject].map(([object, all]) => [object, all.map(([, owner]) => owner)]))
}
