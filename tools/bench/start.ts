import { namespaceOf } from '../../src/shared/baseline/catalog/catalog.ts'
import {
  AUTHORITY_SECRET,
  LEASE,
  SERVING_SECRET,
  STATE_CONFIG_MAP,
  WEBHOOK_CONFIGURATION,
} from '../../src/shared/baseline/names.ts'
import { isNotFound } from '../../src/shared/cluster/client.ts'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import { NAMESPACE } from '../../test/cluster/harness/program.ts'
import { install } from '../control-plane/install.ts'
import type { AuditedRequest } from './audit.ts'
import type { Bench } from './cluster.ts'
import { extent } from './statistics.ts'
import type { Section } from './table.ts'

/** How long it takes from the start of both processes, on a cluster that never saw them, to the last object. */
export async function measureStart(bench: Bench): Promise<Section> {
  const { effort, catalog } = bench
  const applied: number[] = []
  const judging: number[] = []
  for (let run = 0; run < effort.starts; run++) {
    const { appliedMs, judgingMs } = await startOnce(bench)
    applied.push(appliedMs)
    judging.push(judgingMs)
  }
  return {
    title: 'Start of both processes on a cluster that never saw them',
    lines: [
      {
        what: `to the last object applied (${catalog.length} assets)`,
        unit: 'ms',
        ...extent(applied),
        goal: 'under 1,500 ms (10 assets)',
      },
      { what: 'to the first write judged', unit: 'ms', ...extent(judging) },
    ],
    notes: ['From spawn to the audit log’s time of the last write to an object of the catalog.'],
  }
}

/** Makes the cluster forget the product, starts it, and tells when all was applied and judged. */
export async function startOnce(bench: Bench) {
  const { plane, autopilot, catalog, hco, audit, untilReady } = bench
  await autopilot.stop()
  await forget(bench)
  await install(plane, [hco])
  const mark = audit.mark()
  const spawnedAt = Date.now()
  autopilot.webhook.start()
  autopilot.reconciler.start()
  await untilReady()
  const judgingMs = Date.now() - spawnedAt
  const names = new Set(catalog.map(({ object: { resource, name } }) => `${resource}/${name}`))
  const isApply = ({ verb, requestURI, objectRef }: AuditedRequest) =>
    verb === 'patch' &&
    !requestURI.includes('dryRun=') &&
    names.has(`${objectRef?.resource}/${objectRef?.name}`)
  const applies = audit.since(mark).others.filter(isApply)
  if (applies.length === 0) throw new Error('the start wrote no object of the catalog')
  return { appliedMs: Math.max(...applies.map(({ at }) => at)) - spawnedAt, judgingMs }
}

/** Deletes everything that the product has written, and the HyperConverged. */
async function forget({ client, catalog, hco }: Bench): Promise<void> {
  const own = { apiVersion: 'v1', namespace: NAMESPACE }
  const objects = catalog.map(({ object }) => {
    const namespace = namespaceOf({ object }, hco.metadata.namespace ?? '')
    const at = { apiVersion: `${object.group}/${object.versions[0]}`, resource: object.resource }
    return pathOf({ ...at, ...(namespace !== undefined && { namespace }) }, object.name)
  })
  const paths = [
    // These first: nothing then has to wait for a webhook that does not answer.
    ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map((resource) =>
      pathOf({ apiVersion: 'admissionregistration.k8s.io/v1', resource }, WEBHOOK_CONFIGURATION),
    ),
    ...objects,
    pathOf({ ...own, resource: 'configmaps' }, STATE_CONFIG_MAP),
    pathOf({ ...own, resource: 'secrets' }, AUTHORITY_SECRET),
    pathOf({ ...own, resource: 'secrets' }, SERVING_SECRET),
    pathOf({ ...own, apiVersion: 'coordination.k8s.io/v1', resource: 'leases' }, LEASE),
  ]
  for (const path of paths) {
    await client.send(path, { method: 'DELETE' }).catch((error) => {
      if (!isNotFound(error)) throw error
    })
  }
}
