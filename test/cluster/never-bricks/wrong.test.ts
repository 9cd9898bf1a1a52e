import t from 'tap'
import { faultTest } from '../harness/fault.ts'
import { brickableCluster } from './brickable-cluster.ts'

t.test('a webhook that answers wrong, where the failure policy is Ignore', async (t) => {
  const { inTheManner } = await brickableCluster(t)

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it answers 500',
      outcome: 'every write passes; what is managed is healed and told',
    },
    inTheManner('error 500'),
  )
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it answers garbage',
      outcome: 'every write passes; what is managed is healed and told',
    },
    inTheManner('garbage'),
  )
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it answers what was not asked, and denies',
      outcome: 'every write passes; what is managed is healed and told',
    },
    inTheManner('a stranger’s answer'),
  )
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it resets every connection',
      outcome: 'every write passes; what is managed is healed and told',
    },
    inTheManner('reset'),
  )
})
