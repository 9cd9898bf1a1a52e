import t from 'tap'
import { judgeCreations } from './creations.ts'
import { ANNOTATED } from './writes/annotated-writes.ts'
import { plain } from './writes/manifest.ts'
import { corrected, edited, swap } from './writes/subjects.ts'
import { judgeUpdates } from './writes/update.ts'
import { verdictCluster } from './writes/verdict-cluster.ts'
import { ALLOWANCES, CORRECTIONS, DENIALS } from './writes/writes.ts'

t.test('verdicts on creations and updates, whichever way they come', async (t) => {
  const cluster = await verdictCluster(t)
  await t.test('what is put back', (t) => judgeUpdates(t, cluster, CORRECTIONS))
  await t.test('what may pass', (t) => judgeUpdates(t, cluster, ALLOWANCES))
  await t.test('what is refused', (t) => judgeUpdates(t, cluster, DENIALS))
  await t.test('what our label and the overrides decide', (t) =>
    judgeUpdates(t, cluster, ANNOTATED),
  )
  await t.test('what is created', (t) => judgeCreations(t, cluster))

  await t.test('a field whose one owner applies without it stays', async (t) => {
    const actor = cluster.actor()
    const before = await cluster.fresh(corrected)
    const apply = (data: object) =>
      actor.send(corrected.path, {
        method: 'PATCH',
        contentType: 'application/apply-patch+yaml',
        body: edited(plain(before), (object) => Object.assign(object, { data })),
        query: { fieldManager: 'gitops', force: true },
      })
    t.match(await apply({ value: 'theirs' }), { warnings: [/kept at "kept"/, /^To change it/] })
    const counted = await cluster.counted(async () =>
      t.match(await apply({}), { status: 200, warnings: [/kept at "kept"/, /^To own it/] }),
    )
    t.strictSame(counted, { 'ConfigMap UPDATE corrected Drift': 1 })
    t.match(await cluster.read(corrected.path), { data: { value: 'kept' } })
  })

  await t.test('a strategic merge patch of a custom resource never gets so far', async (t) => {
    await cluster.fresh(swap)
    const contentType = 'application/strategic-merge-patch+json'
    const input = { method: 'PATCH', contentType, body: { spec: null } } as const
    const counted = await cluster.counted(async () =>
      t.match(await cluster.actor().send(swap.path, input), { status: 415 }),
    )
    t.strictSame(counted, {})
  })
})
