import t from 'tap'
import { verdictCluster } from './verdict-cluster.ts'
import { judgeUpdates } from './verdict-update.ts'
import { ALLOWANCES } from './verdict-writes.ts'

t.test('what the webhook lets pass', async (t) => {
  await judgeUpdates(t, await verdictCluster(t), ALLOWANCES)
})
