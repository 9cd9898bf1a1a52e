import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { autopilotCluster, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { type ApiProxy, type Behind, type Passed, startProxy } from '../harness/network/proxy.ts'
import { until } from '../harness/until.ts'
import { AUTHORITY, inUse, isJudged, SERVING, untilInUse } from './certificates.ts'

t.test('Secrets that change while the leader decides', async (t) => {
  const started = Promise.withResolvers<ApiProxy>()
  const cluster = await autopilotCluster(t, {
    through: async (plane: Behind) => {
      const proxy = await startProxy(t, plane)
      started.resolve(proxy)
      return proxy
    },
  })
  const { admin, read } = cluster
  const proxy = await started.promise
  const isWriteTo =
    (path: string) =>
    ({ method, path: of }: Passed) =>
      method === 'PATCH' && of === path

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the second Secret is deleted while the leader stores what it made for the first',
      outcome: 'nothing of before comes back: all is new, and the old authority is trusted no more',
    },
    async (t) => {
      const before = await untilInUse(cluster, 'what is stored is in use', () => true)
      const held = proxy.hold(isWriteTo(SERVING), 'request')
      await admin('DELETE', AUTHORITY)
      const write = await held.reached
      await admin('DELETE', SERVING)
      held.release()
      const after = await untilInUse(
        cluster,
        'all is new',
        ({ authority, isSigned }) => authority !== before.authority && isSigned,
      )
      t.equal(write.status, 409)
      for (const bundle of after.bundles) t.same(bundle, [after.authority])
      await until('writes are judged', () => isJudged(cluster))
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'somebody labels a Secret while the leader stores another certificate in it',
      outcome: 'the leader reads it again, and the label stays',
    },
    async (t) => {
      const before = await untilInUse(cluster, 'what is stored is in use', () => true)
      const labels = { 'example.com/team': 'a' }
      const held = proxy.hold(isWriteTo(SERVING), 'request')
      const garbage = { data: { 'tls.crt': Buffer.from('garbage').toString('base64') } }
      await admin('PATCH', SERVING, garbage, 'application/merge-patch+json')
      await held.reached
      await admin('PATCH', SERVING, { metadata: { labels } }, 'application/merge-patch+json')
      held.release()
      await untilInUse(cluster, 'another is served', ({ serving }) => serving !== before.serving)
      t.match((await read(SERVING)).metadata.labels, labels)
      t.equal((await inUse(cluster))?.authority, before.authority)
    },
  )

  await t.test('the command of the docs drops an authority whose key leaked', async (t) => {
    const docs = readFileSync(
      join(import.meta.dirname, '../../../docs/baseline/operating.md'),
      'utf8',
    )
    const [, command = ''] = /^(kubectl delete secret -n \S+ .*)$/m.exec(docs) ?? []
    const before = await untilInUse(cluster, 'what is stored is in use', () => true)
    const here = command.replace('-n virt-platform-autopilot ', `-n ${NAMESPACE} `)
    t.match(await cluster.person('alice').shell(here), { code: 0 })
    const after = await untilInUse(
      cluster,
      'all is new',
      ({ authority, isSigned }) => authority !== before.authority && isSigned,
    )
    for (const bundle of after.bundles) t.same(bundle, [after.authority])
  })
})
