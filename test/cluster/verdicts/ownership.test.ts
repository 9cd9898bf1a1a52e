import t from 'tap'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { asLine, audited, auditedOfAll } from '../harness/audit.ts'
import { autopilotCluster, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HEALTH_CHECK, SWAP } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { createActor } from './writes/actor.ts'
import { ownedFields, plain } from './writes/manifest.ts'
import { edited } from './writes/subjects.ts'

const NAME = 'virt-node-health-check'
const RECONCILER = `system:serviceaccount:${NAMESPACE}:virt-platform-autopilot-reconciler`
const MERGE_PATCH = 'application/merge-patch+json'

t.test('what is left of a corrected write', async (t) => {
  const cluster = await autopilotCluster(t, {
    isAudited: true,
    reconcilerFlags: ['--resync=500ms'],
  })
  const { read, untilCompared } = cluster
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  const actor = (name: string) => createActor(client, name, cluster)

  const isOurs = async () =>
    'f:minHealthy' in (ownedFields(await read(HEALTH_CHECK))?.['f:spec'] ?? {})
  const versionOf = async () => (await read(HEALTH_CHECK)).metadata.resourceVersion
  /** What the reconciler asked of the object so far, watches aside. */
  const asked = () =>
    audited(cluster)
      .filter(
        ({ user, objectRef, verb }) =>
          user.username === RECONCILER && objectRef?.name === NAME && verb !== 'watch',
      )
      .map(asLine)
  /** Waits until the audit log has all that the reconciler asked until now: it renews its Lease all the time. */
  const untilAudited = () => {
    const now = Date.now()
    return until(
      'the audit log has a later request of the reconciler',
      async () =>
        audited(cluster).some(
          ({ user, requestReceivedTimestamp }) =>
            user.username === RECONCILER && Date.parse(requestReceivedTimestamp) > now,
        ),
      60_000,
    )
  }
  /** Events on the object by which the reconciler tells of drift. */
  const told = async () =>
    (await Promise.all(['DriftDetected', 'DriftCorrected'].map(cluster.events)))
      .flat()
      .filter(({ regarding }) => regarding.name === NAME)

  const manifest = async (minHealthy: string) =>
    edited(plain(await read(HEALTH_CHECK)), ({ spec }) => {
      spec.minHealthy = minHealthy
    })
  const WRITERS: readonly {
    readonly way: string
    readonly write: () => Promise<{ readonly warnings: readonly string[] }>
  }[] = [
    {
      way: 'kubectl apply',
      write: async () => actor('alice').kubectl(['apply', '-f-'], await manifest('1%')),
    },
    {
      way: 'an update',
      write: async () => {
        const body = edited(await read(HEALTH_CHECK), ({ spec }) => {
          spec.minHealthy = '2%'
        })
        return actor('bob').send(HEALTH_CHECK, { method: 'PUT', body })
      },
    },
    {
      way: 'a server-side apply with force',
      write: async () =>
        actor('carol').send(HEALTH_CHECK, {
          method: 'PATCH',
          contentType: 'application/apply-patch+yaml',
          body: await manifest('3%'),
          query: { fieldManager: 'gitops', force: true },
        }),
    },
  ]
  for (const { way, write } of WRITERS) {
    await t.test(
      `${way} takes the ownership of the field along, and one apply takes it back`,
      async (t) => {
        t.ok(await isOurs())
        await untilAudited()
        const [before, version] = [asked().length, await versionOf()]
        const { warnings } = await write()
        t.match(warnings.join('\n'), /minHealthy kept at "51%"/)
        await until(
          'the field is ours again',
          async () => (await versionOf()) !== version && (await isOurs()),
        )
        const settled = await versionOf()
        await untilCompared(NAME)
        await untilAudited()
        const requests = asked().slice(before)
        // A resync between the answer and its event plans from the version before: it is refused, and reads again.
        const stored = requests.filter((line) => !/^(patch .* 409|get .* 200)$/.test(line))
        t.equal(stored.length, 1, requests.join('\n'))
        t.match(stored[0], /^patch .*force=true.* 200$/)
        t.equal(requests[0], stored[0])
        t.notMatch(requests.join('\n'), /dryRun/)
        t.equal(await versionOf(), settled, 'nothing is written any more')
        t.strictSame(await told(), [], 'no event tells of it')
      },
    )
  }

  /** What the API server wrote down of the writes of one person. */
  const annotationsOf = (name: string) =>
    until(`the audit log has what ${name} wrote`, async () => {
      // People come as the administrator who says to be somebody else.
      const found = auditedOfAll(cluster).find(
        ({ user, impersonatedUser }) => (impersonatedUser ?? user).username === name,
      )
      return found?.annotations as Readonly<Record<string, string>> | undefined
    })
  const mutation = (annotations: Readonly<Record<string, string>>) =>
    Object.entries(annotations)
      .filter(([key]) => key.startsWith('mutation.webhook.admission.k8s.io/'))
      .map(([, text]) => JSON.parse(text))

  await t.test(
    'the audit log tells a write that was put back from one that was left as it is',
    async (t) => {
      await actor('dora').send(HEALTH_CHECK, {
        method: 'PATCH',
        contentType: MERGE_PATCH,
        body: { metadata: { labels: { a: 'b' } } },
      })
      const clean = await annotationsOf('dora')
      t.match(mutation(clean), [{ webhook: 'mutate.platform.kubevirt.io', mutated: false }])
      t.notOk(Object.keys(clean).some((key) => /^(mutate|validate)\.platform/.test(key)))
      t.match(mutation(await annotationsOf('bob')), [
        { webhook: 'mutate.platform.kubevirt.io', mutated: true },
      ])
    },
  )

  for (const { what, by, path, input, expected } of [
    {
      what: 'an edit that is denied',
      by: 'erin',
      path: SWAP,
      input: {
        method: 'PATCH',
        contentType: MERGE_PATCH,
        body: { spec: { config: { systemd: { units: [] } } } },
      },
      expected: { entry: 'mutate', reason: 'Drift', asset: 'swap-enable' },
    },
    {
      what: 'a deletion that is denied',
      by: 'frank',
      path: SWAP,
      input: { method: 'DELETE' },
      expected: { entry: 'validate', reason: 'Protected', asset: 'swap-enable' },
    },
    {
      what: 'an override that is none',
      by: 'grace',
      path: HEALTH_CHECK,
      input: {
        method: 'PATCH',
        contentType: MERGE_PATCH,
        body: { metadata: { annotations: { 'platform.kubevirt.io/mode': 'off' } } },
      },
      expected: { entry: 'mutate', reason: 'InvalidOverride', asset: 'node-health-standard' },
    },
  ] as const) {
    await t.test(`the audit log tells why: ${what}`, async (t) => {
      const { error } = await actor(by).send(path, input)
      t.not(error, '')
      const annotations = await annotationsOf(by)
      const { entry, ...facts } = expected
      const all = { verdict: 'denied', ...facts }
      for (const [key, value] of Object.entries(all))
        t.equal(annotations[`${entry}.platform.kubevirt.io/${key}`], value)
    })
  }
})
