import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** A registry of one process, with Node's own metrics that are named as promtool wants them. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const gauge of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${gauge}_total`)
  }
  return registry
}

const OBJECT = ['kind', 'namespace', 'name'] as const

// Both processes see wars: the webhook at its door, the reconciler in what got past it.
const thrashing = (registry: Registry) =>
  new Counter({
    name: 'virt_platform_thrashing_total',
    help: 'Edit wars over a managed object, each counted once.',
    labelNames: OBJECT,
    registers: [registry],
  })

const THRASHING_ACTIVE = {
  name: 'virt_platform_thrashing_active',
  help: 'Managed objects that an edit war is being fought over.',
  labelNames: OBJECT,
}

/** The reconciler's metrics. Series of an asset exist only while its object is active. */
export const createReconcilerMetrics = (registry: Registry) => ({
  compliance: new Gauge({
    name: 'virt_platform_compliance_status',
    help: 'Whether a managed object is in sync with its desired state: 1 in sync, 0 not.',
    labelNames: OBJECT,
    registers: [registry],
  }),
  paused: new Gauge({
    name: 'virt_platform_paused_resources',
    help: 'Managed objects whose management is paused by annotation.',
    labelNames: OBJECT,
    registers: [registry],
  }),
  customization: new Gauge({
    name: 'virt_platform_customization_info',
    help: 'Managed objects that carry an override, by its type: patch, ignore, unmanaged.',
    labelNames: [...OBJECT, 'type'] as const,
    registers: [registry],
  }),
  missingDependency: new Gauge({
    name: 'virt_platform_missing_dependency',
    help: 'APIs that an asset somebody asked for needs and the cluster does not serve.',
    labelNames: ['group', 'version', 'kind'] as const,
    registers: [registry],
  }),
  pendingDisruption: new Gauge({
    name: 'virt_platform_pending_disruption',
    help: 'Managed objects with a change that drains or reboots nodes and waits for approval or for its pool.',
    labelNames: OBJECT,
    registers: [registry],
  }),
  duration: new Histogram({
    name: 'virt_platform_reconcile_duration_seconds',
    help: 'Time to reconcile one object.',
    labelNames: OBJECT,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  }),
  tombstone: new Gauge({
    name: 'virt_platform_tombstone_status',
    help: 'Objects that are no longer wanted: 0 gone, 1 to be deleted, -1 failed or stuck, -2 claimed by somebody else.',
    labelNames: OBJECT,
    registers: [registry],
  }),
  tombstoneDeletions: new Counter({
    name: 'virt_platform_tombstone_deletion_total',
    help: 'Deletions of objects that are no longer wanted, by result: deleted, failed.',
    labelNames: ['result'] as const,
    registers: [registry],
  }),
  thrashing: thrashing(registry),
  thrashingActive: new Gauge({ ...THRASHING_ACTIVE, registers: [registry] }),
  activation: new Gauge({
    name: 'virt_platform_activation_info',
    help: 'What the leader was told to do, by its mode: all, only (some assets), observe, off. None while it does not know.',
    labelNames: ['mode'] as const,
    registers: [registry],
  }),
  standingBy: new Gauge({
    name: 'virt_platform_standing_by',
    help: 'Why nothing is written or corrected although nobody switched the product off, by its reason: InvalidSetting, OtherAutopilot.',
    labelNames: ['reason'] as const,
    registers: [registry],
  }),
  leader: new Gauge({
    name: 'virt_platform_leader',
    help: 'Whether this process leads: 1 leader, by the Lease or since there is no election; 0 not.',
    registers: [registry],
  }),
  authorityExpiry: new Gauge({
    name: 'virt_platform_webhook_ca_expiry_timestamp_seconds',
    help: 'When the last of the authorities expires that the API server trusts the webhook by, in seconds since the epoch; 0 where this process is not the leader.',
    registers: [registry],
  }),
})
export type ReconcilerMetrics = ReturnType<typeof createReconcilerMetrics>

/** The labels of the objects that a war is being fought over now. */
export type AtWar = () => readonly Readonly<Record<(typeof OBJECT)[number], string>>[]

/** What every system's webhook tells, under the prefix of its metrics. No label takes a value that a caller chooses. */
export const createAdmissionMetrics = (registry: Registry, prefix: string) => ({
  requests: new Counter({
    name: `${prefix}_admission_requests_total`,
    help: 'Judged writes by kind, operation, verdict and reason.',
    labelNames: ['kind', 'operation', 'verdict', 'reason'] as const,
    registers: [registry],
  }),
  duration: new Histogram({
    name: `${prefix}_admission_duration_seconds`,
    help: 'Time to judge one write, from the parsed request to the answer.',
    labelNames: ['verdict'] as const,
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1],
    registers: [registry],
  }),
  certificateExpiry: new Gauge({
    name: `${prefix}_webhook_certificate_expiry_timestamp_seconds`,
    help: 'When the serving certificate expires, in seconds since the epoch.',
    registers: [registry],
  }),
})

/** The webhook's metrics. */
export const createWebhookMetrics = (registry: Registry, atWar: AtWar) => ({
  ...createAdmissionMetrics(registry, 'virt_platform'),
  contests: new Counter({
    name: 'virt_platform_admission_contests_total',
    help: 'Writes that moved a managed field away from its desired value.',
    labelNames: OBJECT,
    registers: [registry],
  }),
  thrashing: thrashing(registry),
  thrashingActive: new Gauge({
    ...THRASHING_ACTIVE,
    registers: [registry],
    // A war is over when nobody fought for a while, which no request tells.
    collect() {
      this.reset()
      for (const labels of atWar()) this.set(labels, 1)
    },
  }),
})
