import type { Test } from 'tap'
import { until } from '../harness/until.ts'
import type { Balancer } from './balancer.ts'
import { type Fates, IN_FLIGHT, isAtBaseline, type Load } from './load.ts'
import type { Replica, RollingCluster } from './rolling-cluster.ts'

const SLOWEST_MS = 90_000

/** Whether its connections break at once, or each when somebody has waited long enough. */
export type Manner = 'killed' | 'frozen'

/**
 * How many calls are lost with a replica at most, counted from here until it is asked: one for each connection that it
 * has or gets, or, where all break at once, for those that the load can have in use. On a slow machine the API server
 * may tire of the other replica, too.
 */
export function riskOf(balancer: Balancer, replica: Replica, manner: Manner): () => number {
  // Of each write both calls at most.
  const inUse = manner === 'killed' ? 2 * IN_FLIGHT : Infinity
  const open = Math.min(balancer.open(replica), inUse)
  const counted = () => balancer.dealt(replica) + balancer.abandoned(replica)
  const before = counted()
  return () => open + counted() - before
}

/** Loses a replica under load, and no more calls than this risks. */
export async function loseSome(
  t: Test,
  { balancer, underLoad }: RollingCluster,
  [replica, manner]: readonly [Replica, Manner],
  event: (load: Load) => Promise<void>,
) {
  let risked = 0
  const { count, failures, failedOpen, failedClosed } = await underLoad(async (load) => {
    const risk = riskOf(balancer, replica, manner)
    await event(load)
    risked = risk()
  })
  t.same(failures, [])
  t.equal(failedClosed, 0)
  t.ok(failedOpen <= risked, `${failedOpen} of at most ${risked} calls`)
  t.ok(count.passed + count['sent back'] <= failedOpen)
  t.ok(count.corrected > 0 && count.stored > 0)
  t.comment(JSON.stringify({ ...count, failedOpen, risked }))
}

/** Does something under load: no call is lost, and no write fails or passes unjudged. */
export async function loseNone(
  t: Test,
  { underLoad }: RollingCluster,
  event: (load: Load) => Promise<void> = async () => undefined,
): Promise<Fates['count']> {
  const { count, failures, failedClosed, failedOpen, excused } = await underLoad(event)
  t.same(
    { failures, failedClosed, failed: count.failed },
    { failures: [], failedClosed: 0, failed: 0 },
  )
  t.ok(failedOpen <= excused, `${failedOpen} calls lost, ${excused} of them excused`)
  t.ok(count.passed + count['sent back'] <= excused, JSON.stringify(count))
  if (excused > 0) t.comment(`the machine stood still: ${excused} lost calls are excused`)
  return count
}

/** Waits until the reconciler has healed what the load wrote. */
export async function untilAtBaseline({ read }: RollingCluster): Promise<void> {
  await until('every object is healed', () => isAtBaseline(read), SLOWEST_MS)
}
