import t from 'tap'
import { verdictCluster } from './verdict-cluster.ts'
import { plain } from './verdict-manifest.ts'
import { corrected, edited } from './verdict-subjects.ts'
import { judgeUpdates } from './verdict-update.ts'
import { CORRECTIONS } from './verdict-writes.ts'

t.test('what the webhook puts back', async (t) => {
  const cluster = await verdictCluster(t)
  await judgeUpdates(t, cluster, CORRECTIONS)

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
})
