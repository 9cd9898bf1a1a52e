import { namespaceOf } from '../../../src/shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../../../src/shared/baseline/names.ts'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import { MUTATING, NAMESPACE, VALIDATING } from '../../../test/cluster/harness/autopilot-fixture.ts'
import { install } from '../../control-plane/install.ts'
import type { Bench } from '../bench.ts'
import { extent } from '../statistics.ts'
import { line, type Section } from '../table.ts'

/** How long it takes from the start of both processes, on a cluster that never saw them, to the last object. */
export async function measureStart(bench: Bench): Promise<Section> {
  const applied: number[] = []
  const judging: number[] = []
  for (let run = 0; run < bench.effort.starts; run++) {
    const { appliedMs, judgingMs } = await startOnce(bench)
    applied.push(appliedMs)
    judging.push(judgingMs)
  }
  const what = `to the last object applied (${bench.program.catalog.length} assets)`
  return {
    title: 'Start of both processes on a cluster that never saw them',
    lines: [
      line(what, 'ms', extent(applied), 'under 1,500 ms (10 assets)'),
      line('to the first write judged', 'ms', extent(judging)),
    ],
    notes: ['From spawn to the audit log’s time of the last write to an object of the catalog.'],
  }
}

/** Makes the cluster forget the product, starts it, and tells when all was applied and judged. */
async function startOnce(bench: Bench) {
  const { autopilot, program, hco, audit, untilReady } = bench
  await autopilot.stop()
  await forget(bench)
  await install(bench, [hco])
  const mark = audit.mark()
  const spawnedAt = Date.now()
  autopilot.webhook.start()
  autopilot.reconciler.start()
  await untilReady()
  const judgingMs = Date.now() - spawnedAt
  const objects = program.catalog.map(({ object: { resource, name } }) => `${resource}/${name}`)
  const applies = audit
    .since(mark)
    .others.filter(({ verb, requestURI }) => verb === 'patch' && !requestURI.includes('dryRun='))
    .filter(({ objectRef }) => objects.includes(`${objectRef?.resource}/${objectRef?.name}`))
  if (applies.length === 0) throw new Error('the start wrote no object of the catalog')
  const last = Math.max(...applies.map(({ stageTimestamp }) => Date.parse(stageTimestamp)))
  return { appliedMs: last - spawnedAt, judgingMs }
}

/** Deletes everything that the product has written, and the HyperConverged. */
async function forget({ admin, program, hco }: Bench): Promise<void> {
  const objects = program.catalog.map(({ object }) => {
    const namespace = namespaceOf({ object }, hco.metadata.namespace ?? '')
    const at = { apiVersion: `${object.group}/${object.versions[0]}`, resource: object.resource }
    return pathOf({ ...at, ...(namespace !== undefined && { namespace }) }, object.name)
  })
  const own = (resource: string, name: string, apiVersion = 'v1') =>
    pathOf({ apiVersion, resource, namespace: NAMESPACE }, name)
  const paths = [
    // These first: nothing then has to wait for a webhook that does not answer.
    MUTATING,
    VALIDATING,
    ...objects,
    own('configmaps', BASELINE.stateConfigMap),
    own('secrets', BASELINE.authoritySecret),
    own('secrets', BASELINE.servingSecret),
    own('leases', BASELINE.lease, 'coordination.k8s.io/v1'),
  ]
  for (const path of paths) {
    const { status, body } = await admin('DELETE', path)
    if (status !== 200 && status !== 404)
      throw new Error(`deleting ${path}: ${status} ${JSON.stringify(body)}`)
  }
}
