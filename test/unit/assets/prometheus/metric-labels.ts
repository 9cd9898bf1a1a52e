import { Histogram } from 'prom-client'
import {
  createReconcilerMetrics,
  createRegistry,
  createWebhookMetrics,
} from '../../../../src/shared/ops/metrics.ts'

/** The labels that the series of a metric bear, by its name as Prometheus stores it. */
export type MetricLabels = ReadonlyMap<string, readonly string[]>

/** What a scrape adds to each series that does not bear it itself. */
const TARGET_LABELS = ['job', 'instance', 'namespace', 'pod']

/** What the API server tells of its calls to a webhook; the cluster tests compare it with a real one. */
export const API_SERVER_METRICS: MetricLabels = new Map([
  ['apiserver_admission_webhook_fail_open_count', ['name', 'type']],
  [
    'apiserver_admission_webhook_rejection_count',
    ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  ],
  [
    'apiserver_admission_webhook_admission_duration_seconds_bucket',
    ['name', 'type', 'operation', 'rejected', 'le'],
  ],
])

const EVICTIONS = ['result', 'strategy', 'profile', 'namespace', 'node']
const duration = (name: string, labels: readonly string[]) =>
  [
    [`${name}_bucket`, [...labels, 'le']],
    [`${name}_count`, labels],
  ] as const

/** What the descheduler tells of itself: by metrics/metrics.go of its releases 0.31 to 0.35, the older names from before 0.34. */
export const DESCHEDULER_METRICS: MetricLabels = new Map([
  ['descheduler_pods_evicted_total', EVICTIONS],
  ['descheduler_pods_evicted', EVICTIONS],
  ...duration('descheduler_loop_duration_seconds', []),
  ...duration('descheduler_descheduler_loop_duration_seconds', []),
  ...duration('descheduler_strategy_duration_seconds', ['strategy', 'profile']),
  ...duration('descheduler_descheduler_strategy_duration_seconds', ['strategy', 'profile']),
])

/** The metrics that an alert of ours may be on: what both processes export, and what every Prometheus or API server has. */
export function knownMetrics(): MetricLabels {
  const reconciler = createRegistry()
  createReconcilerMetrics(reconciler)
  const webhook = createRegistry()
  createWebhookMetrics(webhook, () => [])
  const ours = [reconciler, webhook].flatMap((registry) =>
    registry.getMetricsAsArray().flatMap((metric) => seriesOf(metric as unknown as Declared)),
  )
  const all = [...ours, ...API_SERVER_METRICS, ['up', []] as const]
  return new Map(all.map(([name, labels]) => [name, [...labels, ...TARGET_LABELS]]))
}

/** What the library keeps of a metric and its types do not tell. */
interface Declared {
  readonly name: string
  readonly labelNames: readonly string[]
}

const seriesOf = (metric: Declared): readonly (readonly [string, readonly string[]])[] => {
  const { name, labelNames } = metric
  return metric instanceof Histogram
    ? [
        [`${name}_bucket`, [...labelNames, 'le']],
        [`${name}_sum`, labelNames],
        [`${name}_count`, labelNames],
      ]
    : [[name, labelNames]]
}
