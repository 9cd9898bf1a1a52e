import t from 'tap'
import { verdictCluster } from './verdict-cluster.ts'
import { swap } from './verdict-subjects.ts'
import { judgeUpdates } from './verdict-update.ts'
import { DENIALS } from './verdict-writes.ts'

t.test('what the webhook refuses', async (t) => {
  const cluster = await verdictCluster(t)
  await judgeUpdates(t, cluster, DENIALS)

  await t.test('a strategic merge patch of a custom resource never gets so far', async (t) => {
    const contentType = 'application/strategic-merge-patch+json'
    const input = { method: 'PATCH', contentType, body: { spec: null } } as const
    const counted = await cluster.counted(async () =>
      t.match(await cluster.actor().send(swap.path, input), { status: 415 }),
    )
    t.strictSame(counted, {})
  })
})
