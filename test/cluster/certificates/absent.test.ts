import t from 'tap'
import { audited, isWrite } from '../harness/audit.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HCO, MUTATING, VALIDATING } from '../harness/objects.ts'
import { PATIENCE_S } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'
import { AUTHORITY, isJudged, SERVING, untilInUse } from './certificates.ts'

const CONFIGURATIONS = [MUTATING, VALIDATING]
const HCOS = HCO.slice(0, HCO.lastIndexOf('/'))
const MERGE = 'application/merge-patch+json'
const JSON_PATCH = 'application/json-patch+json'
const LONG_MS = 120_000

// What is waited for here takes its time, and machines can be five times slower than ours.
t.setTimeout(900_000)

t.test('the registration while something that it needs is away', async (t) => {
  const cluster = await autopilotCluster(t, {
    isAudited: true,
    reconcilerFlags: ['--resync=1s', '--failure-policy=Fail'],
  })
  const { admin, read } = cluster
  const refusedSince = (since: number) =>
    audited(cluster)
      .slice(since)
      .filter(({ requestURI, verb, responseStatus }) => {
        const isOfAuthority = requestURI.startsWith(AUTHORITY)
        return isOfAuthority && verb === 'patch' && responseStatus.code === 422
      })

  /** Empties the authority's Secret for good: only whoever deletes it can help. */
  const freeze = async () => {
    const change = { data: { 'tls.crt': '', 'tls.key': '' }, immutable: true }
    t.match(await admin('PATCH', AUTHORITY, change, MERGE), { status: 200 })
  }

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'somebody adds an owner to a configuration',
      outcome: 'it stays, and the leader contests nothing',
    },
    async (t) => {
      // That writes are judged says nothing of the second configuration, which is made after the first.
      await untilInUse(cluster, 'both are registered', () => true)
      const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default' }
      const { uid } = (await read('/api/v1/namespaces/default')).metadata
      const add = [{ op: 'add', path: '/metadata/ownerReferences/-', value: { ...owner, uid } }]
      for (const path of CONFIGURATIONS)
        t.match(await admin('PATCH', path, add, JSON_PATCH), { status: 200 })
      const since = audited(cluster).length
      await cluster.untilCompared('kubevirt-hyperconverged')
      const written = audited(cluster).slice(since).filter(isWrite)
      t.same(
        written.filter(({ requestURI }: Loose) => requestURI.includes('webhookconfigurations')),
        [],
      )
      for (const path of CONFIGURATIONS)
        t.equal((await read(path)).metadata.ownerReferences.length, 2)
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the Secret of the authority cannot be written',
      outcome:
        'one new authority is made, not one for each try, and is stored as soon as it can be',
    },
    async (t) => {
      const before = await untilInUse(cluster, 'what is stored is in use', () => true)
      const since = audited(cluster).length
      await freeze()
      const trusted = async () => (await read(SERVING)).data['ca.crt']
      await until('it was tried', async () => refusedSince(since).length > 0, LONG_MS)
      const first = await trusted()
      await until('it was tried again', async () => refusedSince(since).length > 3, LONG_MS)
      t.equal(await trusted(), first)
      await admin('DELETE', AUTHORITY)
      const after = await untilInUse(
        cluster,
        'it is stored',
        (now) => now.authority !== before.authority,
      )
      t.same(after.bundles[0], [after.authority, before.authority])
      t.equal(await trusted(), first)
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'there is no HyperConverged, the failure policy is Fail, and both Secrets are deleted',
      outcome: 'all is made anew and trusted, so that a HyperConverged can be created',
    },
    async (t) => {
      const before = await untilInUse(cluster, 'what is stored is in use', () => true)
      const { apiVersion, kind, metadata, spec } = await read(HCO)
      const { name, namespace } = metadata
      await admin('DELETE', HCO)
      await until('it is gone', async () => (await read(HCO)) === undefined, LONG_MS)
      // The authority first: a leader that finds only the other gone stores both again.
      for (const path of [AUTHORITY, SERVING]) await admin('DELETE', path)
      await untilInUse(
        cluster,
        'all is new',
        ({ authority, isSigned }) => authority !== before.authority && isSigned,
      )
      const [mutating] = (await read(MUTATING)).webhooks
      t.match(mutating, { name: 'mutate.platform.kubevirt.io', timeoutSeconds: PATIENCE_S })
      const hco = { apiVersion, kind, metadata: { name, namespace }, spec }
      await until(
        'it can be created',
        async () => (await admin('POST', HCOS, hco)).status === 201,
        LONG_MS,
      )
      await cluster.untilCompared('kubevirt-hyperconverged')
      // Until the webhook has heard of the new one it judges nothing else.
      await until('writes are judged', () => isJudged(cluster), LONG_MS)
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the Secret of the authority cannot be written, and the product is switched off',
      outcome: 'the webhook configurations are deleted all the same',
    },
    async (t) => {
      const since = audited(cluster).length
      await freeze()
      await until('it was tried', async () => refusedSince(since).length > 0, LONG_MS)
      const off = { metadata: { annotations: { 'platform.kubevirt.io/autopilot': 'false' } } }
      t.match(await admin('PATCH', HCO, off, MERGE), { status: 200 })
      await until(
        'both are gone',
        async () => (await Promise.all(CONFIGURATIONS.map(read))).every((one) => one === undefined),
        LONG_MS,
      )
      t.match(await read(AUTHORITY), { immutable: true }, 'and it is still so')
    },
  )
})
