import type { KubeObject } from '../../shared/engine/json/object.ts'
import type { ResourceGraph } from '../../shared/graph/resource-graph.ts'
import { inventoryIn } from '../../shared/graph/stored-inventory.ts'
import type { InventoryItem } from '../../shared/graph-engine/inventory.ts'
import { keyOf } from '../../shared/graph-engine/node.ts'

/** What is known of the cluster: what every graph has in it. */
export interface Snapshot {
  /** The ResourceGraph of a Transform, which is not one of an earlier Transform of its name. */
  readonly graphOf: (transform: KubeObject) => ResourceGraph | undefined
  /** The Transform whose graph has an object, as `namespace/name`, where it is another one than this, and this has it not, too. */
  readonly holderOf: (object: string, transform: KubeObject) => string | undefined
}

/** Makes a snapshot of all graphs. */
export function createSnapshot(graphs: readonly ResourceGraph[]): Snapshot {
  const byName = new Map(graphs.map((graph) => [nameOf(graph), graph]))
  let holders: Holders | undefined
  return {
    graphOf(transform) {
      const graph = byName.get(nameOf(transform))
      return graph?.spec.sourceRef.uid === transform.metadata.uid ? graph : undefined
    },
    holderOf(object, transform) {
      holders ??= holdersIn(graphs)
      const all = holders.get(object) ?? []
      return all.includes(nameOf(transform)) ? undefined : all[0]
    },
  }
}

const nameOf = ({ metadata: { namespace, name } }: KubeObject) => `${namespace}/${name}`

/** The Transforms that have an object, by its key. */
type Holders = ReadonlyMap<string, readonly string[]>

function holdersIn(graphs: readonly ResourceGraph[]): Holders {
  const held = graphs
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .flatMap((graph) =>
      inventoryIn(graph)
        .filter(isHeld)
        .map((item) => [keyOf(item), nameOf(graph)] as const),
    )
  const byObject = Map.groupBy(held, ([object]) => object)
  return new Map([...byObject].map(([object, all]) => [object, all.map(([, owner]) => owner)]))
}

// What was never applied is perhaps another's, and what left its graph is about to be anybody's.
const isHeld = ({ uid, removedAt }: InventoryItem) => uid !== undefined && removedAt === undefined
