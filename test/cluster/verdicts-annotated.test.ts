import t from 'tap'
import { ANNOTATED } from './verdict-annotated-writes.ts'
import { verdictCluster } from './verdict-cluster.ts'
import { judgeUpdates } from './verdict-update.ts'

t.test('what our label and the overrides decide', async (t) => {
  await judgeUpdates(t, await verdictCluster(t), ANNOTATED)
})
