import type { RecordEvent } from '../../shared/cluster/events.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import type { ResourceGraph } from '../../shared/graph/resource-graph.ts'
import type { Release } from '../../shared/graph-engine/prune/prune.ts'
import type { Log } from '../../shared/ops/log.ts'

/** The part of a status that is told of. */
interface Told {
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
  }[]
}

export interface Reporter {
  /** Tells of a status as it is written: an event where `Ready` has another reason, or another message of a fault, than before. */
  readonly status: (object: KubeObject & { readonly status?: Told }, status: Told) => void
  /** Tells of an object that is let go without being deleted. */
  readonly released: (graph: ResourceGraph, release: Release) => void
}

// Waiting is no fault: these are on the way to Ready, or what somebody asked for.
const NORMAL = new Set([
  'Ready',
  'Progressing',
  'Pending',
  'Executing',
  'Pruning',
  'Deleting',
  'Suspended',
])

/** Tells what happens, by log and events. */
export function createReporter(log: Log, record: RecordEvent): Reporter {
  return {
    status(object, status) {
      const ready = readyIn(status)
      const before = readyIn(object.status)
      if (!ready) return
      const isNormal = NORMAL.has(ready.reason)
      const isSame =
        before?.reason === ready.reason && (isNormal || before.message === ready.message)
      if (isSame) return
      const { kind, metadata } = object
      const { namespace, name } = metadata
      const line = { kind, namespace, name, reason: ready.reason }
      if (isNormal) log.info(line, ready.message)
      else log.warn(line, ready.message)
      record({
        subject: object,
        type: isNormal ? 'Normal' : 'Warning',
        reason: ready.reason,
        note: ready.message,
      })
    },
    released(graph, { reason, message: note }) {
      const { kind, metadata } = graph
      log.info({ kind, namespace: metadata.namespace, name: metadata.name, reason }, note)
      record({ subject: graph, type: 'Normal', reason, note })
    },
  }
}

const readyIn = (status: Told | undefined) =>
  status?.conditions?.find(({ type }) => type === 'Ready')
