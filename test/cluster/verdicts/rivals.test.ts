import t from 'tap'
import { startRival } from './rival.ts'
import { expectTold } from './told.ts'
import { essenceOf } from './writes/manifest.ts'
import { healthCheck } from './writes/subjects.ts'
import { type VerdictCluster, verdictCluster } from './writes/verdict-cluster.ts'

const KIND = 'NodeHealthCheck'
const USERS = ['probe', 'alice', 'bob', 'carol', 'dave']
const set = (path: string, value: string) => [{ op: 'add', path, value }]
const setsMinHealthy = () => set('/spec/minHealthy', '13%')

const contests = (cluster: VerdictCluster) =>
  cluster.metric('webhook', 'virt_platform_admission_contests_total')

t.test('another mutating webhook', async (t) => {
  const cluster = await verdictCluster(t)
  const merge = (user: string, body: object, dryRun?: 'All') =>
    cluster.actor(user).send(healthCheck.path, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body,
      query: { dryRun },
    })
  const probe = () => merge('probe', { metadata: { labels: { a: String(Math.random()) } } }, 'All')
  const label = (value: string) => ({ metadata: { labels: { a: value } } })
  const healthy = (minHealthy: string) => ({ spec: { minHealthy } })

  await t.test('that has the last word on a managed field has the write refused', async (t) => {
    const before = await cluster.fresh(healthCheck)
    const rival = await startRival(
      t,
      cluster,
      { name: 'zz-last', users: USERS, reinvocationPolicy: 'IfNeeded', patch: setsMinHealthy },
      probe,
    )
    for (const [user, body] of [
      ['alice', label('theirs')],
      ['bob', healthy('5%')],
    ] as const) {
      const counted = await cluster.counted(async () => {
        const said = await merge(user, body)
        t.equal(said.status, 403)
        t.match(
          said.error,
          /minHealthy is kept by .*The correction did not last: another admission webhook/s,
        )
      })
      t.equal(counted[`${KIND} UPDATE denied NotCorrected`], 1)
      t.strictSame(await cluster.read(healthCheck.path), before)
    }
    const dry = await cluster.counted(async () =>
      t.match(await merge('alice', label('dry'), 'All'), { status: 403 }),
    )
    t.strictSame(dry, {}, 'a dry run gets the answer, and is not counted')
    await rival.leave()
  })

  await t.test(
    'that changes a managed field after us is corrected in the same write',
    async (t) => {
      const before = await cluster.fresh(healthCheck)
      const rival = await startRival(
        t,
        cluster,
        { name: 'zz-once', users: USERS, reinvocationPolicy: 'Never', patch: setsMinHealthy },
        probe,
      )
      const asked = rival.asked()
      const counted = await cluster.counted(async () =>
        t.match(await merge('alice', label('theirs')), { status: 200 }),
      )
      t.equal(rival.asked(), asked + 1)
      t.strictSame(
        counted,
        { [`${KIND} UPDATE allowed InSync`]: 1, [`${KIND} UPDATE corrected Drift`]: 1 },
        'we are asked again, and see what the other did',
      )
      const { spec, metadata } = await cluster.read(healthCheck.path)
      t.strictSame(spec, (before as { spec?: unknown }).spec)
      t.equal(metadata.labels.a, 'theirs')
      await rival.leave()
    },
  )

  await t.test('that changes what is not managed is let, before us and after us', async (t) => {
    for (const name of ['aa-before', 'zz-after']) {
      const before = await cluster.fresh(healthCheck)
      const path = '/metadata/labels/injected'
      const rival = await startRival(
        t,
        cluster,
        { name, users: USERS, reinvocationPolicy: 'IfNeeded', patch: () => set(path, 'yes') },
        probe,
      )
      expectTold(
        t,
        await merge('carol', healthy(name === 'aa-before' ? '31%' : '32%')),
        { status: 200, told: [/minHealthy kept at "51%"/, /^To change it: /] },
        'carol',
      )
      const { labels, ...stored } = essenceOf(await cluster.read(healthCheck.path))
      const { labels: ours, ...others } = essenceOf(before)
      t.strictSame(stored, others)
      t.strictSame(labels, { ...ours, injected: 'yes' })
      await rival.leave()
    }
  })

  await t.test('that has us see each edit twice makes one contest of it', async (t) => {
    await cluster.fresh(healthCheck)
    const rival = await startRival(
      t,
      cluster,
      {
        name: 'zz-after',
        users: USERS,
        reinvocationPolicy: 'IfNeeded',
        // What it set before would be no change, and nobody would look again.
        patch: (calls) => set('/metadata/labels/injected', `${calls}`),
      },
      probe,
    )
    const contested = await contests(cluster)
    const codes: (number | undefined)[] = []
    for (let round = 0; round < 6; round++) {
      const counted = await cluster.counted(async () => {
        codes.push((await merge('dave', { ...label('a'), ...healthy(`2${round}%`) })).status)
      })
      t.strictSame(
        counted,
        round < 5
          ? { [`${KIND} UPDATE corrected Drift`]: 1, [`${KIND} UPDATE allowed InSync`]: 1 }
          : { [`${KIND} UPDATE denied Thrashing`]: 1 },
      )
    }
    t.strictSame(codes, [200, 200, 200, 200, 200, 403])
    t.equal((await contests(cluster)) - contested, 6)
    await rival.leave()
  })

  await t.test('or none: to write again what was corrected changes nothing', async (t) => {
    await cluster.fresh(healthCheck)
    await merge('alice', healthy('41%'))
    const stored = await cluster.read(healthCheck.path)
    const counted = await cluster.counted(async () => {
      const input = { method: 'PUT', body: stored } as const
      const said = await cluster.actor('alice').send(healthCheck.path, input)
      t.strictSame(said, { status: 200, warnings: [], error: '' })
    })
    t.strictSame(counted, { [`${KIND} UPDATE allowed InSync`]: 1 })
    t.strictSame(await cluster.read(healthCheck.path), stored)
  })
})
