import t from 'tap'
import { discoverKinds } from '../../../tools/control-plane/kinds.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import { until } from '../harness/until.ts'
import { expectTold } from './told.ts'
import { essenceOf, plain } from './writes/manifest.ts'
import { edited, healthCheck, type Subject, swap } from './writes/subjects.ts'
import { type VerdictCluster, verdictCluster } from './writes/verdict-cluster.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const MERGE_PATCH = 'application/merge-patch+json'
const OTHER = 'v9'
const SILENT = { status: 200, warnings: [], error: '' }
const HEALTHY = { spec: { minHealthy: '1%' } }
const NO_UNITS = { spec: { config: { systemd: { units: [] } } } }

const inOtherVersion = ({ path }: Subject) => path.replace(/\/v1(alpha1)?\//, `/${OTHER}/`)

/** Has a kind served in a version more, which looks the same and is not the one that is stored. */
async function serveToo(cluster: VerdictCluster, definition: string, subject: Subject) {
  const { spec } = await cluster.read(`${DEFINITIONS}/${definition}`)
  const other = { ...spec.versions[0], name: OTHER, storage: false }
  const body = { spec: { versions: [...spec.versions, other], conversion: { strategy: 'None' } } }
  await cluster.admin('PATCH', `${DEFINITIONS}/${definition}`, body, MERGE_PATCH)
  await until(`${definition} is served as ${OTHER} too`, async () => {
    const found = await cluster.read(inOtherVersion(subject))
    return found?.apiVersion?.endsWith(`/${OTHER}`)
  })
  // Which kubectl goes by, and is another controller's to tell.
  const group = definition.slice(definition.indexOf('.') + 1)
  await until(`${definition} is discovered as ${OTHER} too`, async () =>
    (await discoverKinds(cluster)).has(`${group}/${OTHER} ${subject.kind}`),
  )
}

t.test('writes in other versions, to subresources, and to what is going away', async (t) => {
  const cluster = await verdictCluster(t, { isOwn: true })
  const { counted, fresh, read, actor } = cluster
  const merge = (path: string, body: object, query = {}) =>
    actor().send(path, { method: 'PATCH', contentType: MERGE_PATCH, body, query })

  await serveToo(cluster, 'nodehealthchecks.remediation.medik8s.io', healthCheck)
  await serveToo(cluster, 'machineconfigs.machineconfiguration.openshift.io', swap)

  await t.test('an edit is corrected in a version that nobody registered for', async (t) => {
    const before = await fresh(healthCheck)
    const path = inOtherVersion(healthCheck)
    const apiVersion = `remediation.medik8s.io/${OTHER}`
    const withHealthy = (minHealthy: string) =>
      edited(plain(before), (object) => {
        object.apiVersion = apiVersion
        object.spec.minHealthy = minHealthy
      })
    const writes = [
      () => merge(path, { spec: { minHealthy: '2%' } }),
      () => actor().kubectl(['replace', '-f-'], withHealthy('3%')),
      () =>
        actor().send(path, {
          method: 'PATCH',
          contentType: 'application/apply-patch+yaml',
          body: withHealthy('4%'),
          query: { fieldManager: 'gitops', force: true },
        }),
    ]
    for (const write of writes) {
      const verdicts = await counted(async () =>
        expectTold(
          t,
          await write(),
          { status: 200, told: [/minHealthy kept at "51%"/, /^To change it: /] },
          'the edit',
        ),
      )
      t.strictSame(verdicts, { 'NodeHealthCheck UPDATE corrected Drift': 1 })
      t.strictSame(essenceOf(await read(healthCheck.path)), essenceOf(before))
    }
  })

  await t.test(
    'what reboots nodes is refused in a version that nobody registered for',
    async (t) => {
      const before = await fresh(swap)
      const path = inOtherVersion(swap)
      const refusals = await counted(async () => {
        t.match(await merge(path, NO_UNITS), { status: 403, error: /units.* is kept by/ })
        const deletion = await actor().send(path, { method: 'DELETE' })
        t.match(deletion, { status: 403, error: /switch the asset off first/ })
      })
      t.strictSame(refusals, {
        'MachineConfig UPDATE denied Drift': 1,
        'MachineConfig DELETE denied Protected': 1,
      })
      t.strictSame(await read(swap.path), before)
    },
  )

  await t.test('an object is adopted that is created in such a version', async (t) => {
    await cluster.absent(healthCheck)
    const kept = cluster.kept(healthCheck)
    const body = {
      ...edited(kept, ({ metadata }) => delete metadata.labels),
      apiVersion: `remediation.medik8s.io/${OTHER}`,
    }
    const path = inOtherVersion(healthCheck).replace(/\/[^/]+$/, '')
    const verdicts = await counted(async () =>
      expectTold(
        t,
        await actor().send(path, { method: 'POST', body }),
        { status: 201, told: [/managed-by set to/] },
        'the creation',
      ),
    )
    t.strictSame(verdicts, { 'NodeHealthCheck CREATE corrected Drift': 1 })
    t.strictSame(essenceOf(await read(healthCheck.path)), essenceOf(kept))
  })

  await t.test('a write to the status stores the status alone, and nobody is asked', async (t) => {
    const before = await fresh(healthCheck)
    const asked = await cluster.asked()
    const phase = { status: { phase: 'Enabled' } }
    const put = edited(before, (object) => Object.assign(object, phase, HEALTHY))
    const paths = [healthCheck.path, inOtherVersion(healthCheck)]
    for (const path of paths)
      t.strictSame(await merge(`${path}/status`, { ...phase, ...HEALTHY }), SILENT)
    const { metadata } = await read(healthCheck.path)
    const body = {
      ...put,
      metadata: { ...put.metadata, resourceVersion: metadata.resourceVersion },
    }
    const input = { method: 'PUT', body } as const
    t.strictSame(await actor().send(`${healthCheck.path}/status`, input), SILENT)
    const after = await read(healthCheck.path)
    t.match(after.status, phase.status)
    t.strictSame(after.spec, before.spec)
    t.equal(await cluster.asked(), asked)
  })

  /** Makes an object that waits for somebody before it goes: nobody but the garbage collector may delete each of them. */
  const terminating = async (subject: Subject) => {
    await fresh(subject, ({ metadata }) => {
      metadata.finalizers = ['example.com/cleanup']
      metadata.ownerReferences = [
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          name: 'default',
          uid: 'f0000000-0000-4000-8000-000000000000',
        },
      ]
    })
    const collector = actor('system:serviceaccount:kube-system:generic-garbage-collector')
    await collector.send(subject.path, { method: 'DELETE' })
    const object: Loose = await read(subject.path)
    t.ok(object.metadata.deletionTimestamp)
    return object
  }

  const wars = () =>
    Promise.all(
      ['virt_platform_admission_contests_total', 'virt_platform_thrashing_total'].map((name) =>
        cluster.metric('webhook', name),
      ),
    )

  for (const { subject, patch } of [
    {
      subject: healthCheck,
      patch: (round: number) => ({ spec: { minHealthy: `${10 + round}%` } }),
    },
    {
      subject: swap,
      patch: (round: number) => ({
        spec: { config: { systemd: { units: [{ name: `theirs-${round}.service` }] } } },
      }),
    },
  ]) {
    await t.test(
      `a ${subject.kind} that is going away is corrected, however often one user edits it`,
      async (t) => {
        const before = await terminating(subject)
        const contested = await wars()
        const stubborn = actor()
        for (let round = 0; round < 7; round++) {
          const verdicts = await counted(async () =>
            t.match(
              await stubborn.send(subject.path, {
                method: 'PATCH',
                contentType: MERGE_PATCH,
                body: patch(round),
              }),
              { status: 200, warnings: [/ kept at /] },
            ),
          )
          t.strictSame(verdicts, { [`${subject.kind} UPDATE corrected Drift`]: 1 })
        }
        t.strictSame((await read(subject.path)).spec, before.spec)
        t.strictSame(await wars(), contested, 'none of it is a contest')
      },
    )

    await t.test(
      `owners and finalizers of a ${subject.kind} may be taken, and it goes`,
      async (t) => {
        await terminating(subject)
        const verdicts = await counted(async () => {
          t.strictSame(await actor().send(subject.path, { method: 'DELETE' }), SILENT)
          t.strictSame(await merge(subject.path, { metadata: { ownerReferences: null } }), SILENT)
          t.strictSame(await merge(subject.path, { metadata: { finalizers: null } }), SILENT)
        })
        t.strictSame(verdicts, {
          [`${subject.kind} DELETE allowed Garbage`]: 1,
          [`${subject.kind} UPDATE allowed InSync`]: 2,
        })
        t.equal(await read(subject.path), undefined)
      },
    )
  }

  await t.test(
    'a finalizer and an edit in one write: the finalizer goes, the edit does not',
    async (t) => {
      const before = await fresh(swap, ({ metadata }) => {
        metadata.finalizers = ['example.com/cleanup']
      })
      const both = { metadata: { finalizers: null }, ...NO_UNITS }
      t.match(await merge(swap.path, both), { status: 403 })
      t.strictSame(await read(swap.path), before, 'of what is not going away nothing goes')
      await terminating(swap)
      t.match(await merge(swap.path, both), { status: 200, warnings: [/ kept at /] })
      t.equal(await read(swap.path), undefined)
    },
  )
})
