import t from 'tap'
import { faultTest } from '../harness/fault.ts'
import type { Passed } from '../harness/network/proxy.ts'
import { HEALTH_CHECK } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { faultyCluster, HEAL } from './faulty-cluster.ts'

t.test('what the network, and a busy API server, do to the watches', async (t) => {
  const cluster = await faultyCluster(t, { reconcilerFlags: ['--resync=1h'] })
  const { proxy, edit, survive, withoutWebhook, untilHealed, mark } = cluster
  // A machine that is too slow to renew the Lease in time says so, too.
  const complaints = (since: number) =>
    cluster.complaints(since).filter((line) => !/leader/.test(line))
  const ofReconciler = ({ account }: Passed) => account === 'reconciler'
  const isOfCheck = (one: Passed) =>
    ofReconciler(one) && (one.query.get('fieldSelector') ?? '').endsWith('virt-node-health-check')
  const isWatch = (one: Passed) => one.isWatch && isOfCheck(one)
  const isList = (one: Passed) => !one.isWatch && isOfCheck(one)
  /** What came by during the work. */
  const during = async (work: () => Promise<void>) => {
    const before = proxy.passed.length
    await withoutWebhook(() => survive(t, work, [HEAL]))
    return proxy.passed.slice(before)
  }

  await faultTest(
    t,
    {
      part: 'API server',
      fault: 'every watch is cut at once',
      outcome: 'each goes on from where it was, and nothing is listed anew',
    },
    async (t) => {
      const since = mark()
      // One that ends as soon as it began is a trouble, and is meant to be.
      const isSettled = async () =>
        performance.now() - (proxy.passed.findLast(({ isWatch }) => isWatch)?.at ?? 0) > 1_000
      await until('no watch is new', isSettled)
      const passed = await during(async () => {
        const cut = proxy.cutWatches(ofReconciler)
        t.ok(cut >= 10, `${cut} watches are open`)
        await edit()
        await untilHealed()
      })
      const lists = passed.filter((one) => ofReconciler(one) && one.query.has('limit'))
      t.same(
        lists.map(({ path }) => path),
        [],
        'nothing is listed again',
      )
      t.equal(passed.filter(isWatch).length, 1, 'the watch is opened once')
      t.same(complaints(since), [], 'and it is no trouble')
    },
  )

  await faultTest(
    t,
    {
      part: 'API server',
      fault: 'a watch is cut again and again',
      outcome: 'it is begun again, ever more slowly',
    },
    async (t) => {
      const since = mark()
      const passed = await during(async () => {
        const deadline = performance.now() + 3_000
        await until('it is cut for three seconds', async () => {
          proxy.cutWatches(isWatch)
          return performance.now() > deadline
        })
        await edit()
        await untilHealed()
      })
      const opened = passed.filter(isWatch).length
      t.ok(opened >= 2 && opened < 12, `opened ${opened} times`)
      t.equal(complaints(since).length, 1, 'told once')
    },
  )

  await faultTest(
    t,
    {
      part: 'API server',
      fault: 'a watch ends with 410 Gone',
      outcome: 'what it follows is listed again, at once',
    },
    async (t) => {
      const since = mark()
      const left = proxy.forget(isWatch, 1)
      const passed = await during(async () => {
        proxy.cutWatches(isWatch)
        await edit()
        await untilHealed()
      })
      t.equal(left(), 0)
      t.equal(passed.filter(isList).length, 1)
      t.same(complaints(since), [], 'and is no trouble')
    },
  )

  for (const how of ['by an event', 'to the request'] as const) {
    await t.test(`410 Gone again and again, ${how}, is no tight loop`, async (t) => {
      const since = mark()
      const left =
        how === 'by an event' ? proxy.forget(isWatch, 5) : proxy.refuse(isWatch, 5, { status: 410 })
      const passed = await during(async () => {
        proxy.cutWatches(isWatch)
        await until('it was told five times', async () => left() === 0)
        await edit()
        await untilHealed()
      })
      const times = passed.filter((one) => isWatch(one)).map(({ at }) => at)
      const waits = times.map((at, index) => at - (times[index - 1] ?? at)).slice(2)
      t.equal(times.length, 6)
      t.ok(
        waits.every((wait, index) => wait >= 50 * 2 ** index),
        `it waits ever longer: ${waits.map(Math.round)}`,
      )
      t.equal(complaints(since).length, 1, 'told once')
      t.match(
        complaints(since)[0],
        /^cannot read asset:node-health-standard; trying again: .* 410 /,
      )
    })
  }

  await faultTest(
    t,
    {
      part: 'API server',
      fault: 'it answers 429',
      outcome: 'it is asked again after as long as it says',
    },
    async (t) => {
      const since = mark()
      const isApply = ({ method, path, isDryRun }: Passed) =>
        method === 'PATCH' && path === HEALTH_CHECK && !isDryRun
      const left = proxy.refuse((one) => ofReconciler(one) && isApply(one), 2, {
        status: 429,
        retryAfterS: 2,
      })
      const passed = await during(async () => {
        await edit()
        await untilHealed()
      })
      t.equal(left(), 0)
      const applies = passed.filter((one) => ofReconciler(one) && isApply(one))
      t.same(
        applies.map(({ status }) => status),
        [429, 429, 200],
      )
      const [first = 0, second = 0, third = 0] = applies.map(({ at }) => at)
      t.ok(second - first >= 2_000 && third - second >= 2_000, 'no sooner than it says')
      t.same(complaints(since), [], 'which is no trouble')
    },
  )

  await faultTest(
    t,
    {
      part: 'API server',
      fault: 'it answers 429 to everything for a while',
      outcome: 'nothing is lost, and what was edited is healed afterwards',
    },
    async (t) => {
      const since = mark()
      await during(async () => {
        const left = proxy.refuse(ofReconciler, 30, { status: 429, retryAfterS: 1 })
        proxy.cutWatches(ofReconciler)
        await edit()
        await until('it was told often', async () => left() === 0, 90_000)
        await untilHealed()
      })
      const twice = complaints(since).filter((line, index, all) => all.indexOf(line) !== index)
      t.same(twice, [], 'nothing is told twice')
    },
  )
})
