import { namespaceOf } from '../../../src/shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../../../src/shared/baseline/names.ts'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import { NAMESPACE } from '../../../test/cluster/harness/autopilot-fixture.ts'
import { MUTATING, VALIDATING } from '../../../test/cluster/harness/objects.ts'
import { install } from '../../control-plane/install.ts'
import type { Bench } from '../bench.ts'
import { extent } from '../statistics.ts'
import { line, type Section } from '../table.ts'

/** How long it takes from the start of both processes, on a cluster that never saw them, to the last object. */
export async function measureStart(bench: Bench): Promise<Section> {
  const { autopilot, program, hco, audit, effort } = bench
  const objects = program.catalog.map(({ object: { resource, name } }) => `${resource}/${name}`)
  const [applied, judging]: [number[], number[]] = [[], []]
  while (judging.length < effort.starts) {
    await autopilot.stop()
    await forget(bench)
    await install(bench, [hco])
    const mark = audit.mark()
    const spawnedAt = Date.now()
    autopilot.webhook.start()
    autopilot.reconciler.start()
    await bench.untilReady()
    judging.push(Date.now() - spawnedAt)
    const applies = audit
      .since(mark)
      .others.filter(({ verb, requestURI }) => verb === 'patch' && !requestURI.includes('dryRun='))
      .filter(({ objectRef }) => objects.includes(`${objectRef?.resource}/${objectRef?.name}`))
    const ends = applies.map(({ stageTimestamp }) => Date.parse(stageTimestamp))
    applied.push(Math.max(...ends) - spawnedAt)
  }
  const toTheLast = `to the last object applied (${objects.length} assets)`
  return {
    title: 'Start of both processes on a cluster that never saw them',
    lines: [
      line(toTheLast, 'ms', extent(applied), 'under 1,500 ms (10 assets)'),
      line('to the first write judged', 'ms', extent(judging)),
    ],
    notes: ['From spawn to the audit log’s time of the last write to an object of the catalog.'],
  }
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
