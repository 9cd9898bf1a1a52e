import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ResourceGraphStatus } from '../../shared/graph/resource-graph.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** The part of a ResourceGraph's status that is counted. */
type Counted = Pick<ResourceGraphStatus, 'inventory' | 'nodeStatus'>

/** The metrics of the reconciler of graphs. No label takes a value that the author of a Transform chooses. */
export const createGraphMetrics = (registry: Registry, statuses: () => readonly Counted[]) => ({
  applies: new Counter({
    name: 'pequod_apply_total',
    help: 'Objects applied and deleted, by result: applied, deleting, gone, stale, failed.',
    labelNames: ['result'] as const,
    registers: [registry],
  }),
  applyDuration: new Histogram({
    name: 'pequod_apply_duration_seconds',
    help: 'Time to apply or delete one object.',
    buckets: SECONDS,
    registers: [registry],
  }),
  managed: new Gauge({
    name: 'pequod_resources_managed',
    help: 'Objects in the inventories of all graphs.',
    registers: [registry],
    collect() {
      this.set(statuses().reduce((sum, { inventory = [] }) => sum + inventory.length, 0))
    },
  }),
  reconciles: new Counter({
    name: 'pequod_reconcile_total',
    help: 'Passes over Transforms and ResourceGraphs, by controller.',
    labelNames: ['controller'] as const,
    registers: [registry],
  }),
  reconcileErrors: new Counter({
    name: 'pequod_reconcile_errors_total',
    help: 'Passes that ended with an error and are made again, by controller.',
    labelNames: ['controller'] as const,
    registers: [registry],
  }),
  reconcileDuration: new Histogram({
    name: 'pequod_reconcile_duration_seconds',
    help: 'Time of one pass, by controller.',
    labelNames: ['controller'] as const,
    buckets: SECONDS,
    registers: [registry],
  }),
  evaluations: new Histogram({
    name: 'pequod_cue_eval_duration_seconds',
    help: 'Time to evaluate a module, by outcome; what was remembered is not counted.',
    labelNames: ['outcome'] as const,
    buckets: SECONDS,
    registers: [registry],
  }),
  remembered: new Counter({
    name: 'pequod_cue_cache_hits_total',
    help: 'Evaluations that were answered from memory.',
    registers: [registry],
  }),
  nodes: new Gauge({
    name: 'pequod_dag_nodes_total',
    help: 'Nodes of all graphs, by phase.',
    labelNames: ['phase'] as const,
    registers: [registry],
    collect() {
      this.reset()
      for (const { nodeStatus = {} } of statuses())
        for (const { phase } of Object.values(nodeStatus)) this.inc({ phase })
    },
  }),
  execution: new Histogram({
    name: 'pequod_dag_execution_duration_seconds',
    help: 'Time from the rendering of a graph until all its nodes are ready.',
    buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
    registers: [registry],
  }),
  leader: new Gauge({
    name: 'pequod_leader',
    help: 'Whether this process leads: 1 leader, 0 not.',
    registers: [registry],
  }),
  authorityExpiry: new Gauge({
    name: 'pequod_webhook_ca_expiry_timestamp_seconds',
    help: 'When the last of the authorities expires that the API server trusts the webhook by, in seconds since the epoch; 0 where this process is not the leader.',
    registers: [registry],
  }),
})

export type GraphMetrics = ReturnType<typeof createGraphMetrics>
