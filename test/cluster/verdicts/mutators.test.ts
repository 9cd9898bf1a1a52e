import t from 'tap'
import { startRival } from './rival.ts'
import { essenceOf } from './writes/manifest.ts'
import { healthCheck } from './writes/subjects.ts'
import { verdictCluster } from './writes/verdict-cluster.ts'

const ORDERS = 8
const add = (path: string, value: unknown) => [{ op: 'add', path, value }]

/** What three webhooks of others do: one moves a managed field, two add what nobody manages. */
const MUTATORS = [
  { patch: add('/spec/minHealthy', '13%'), reinvocationPolicy: 'Never' },
  { patch: add('/metadata/labels/injected', 'yes'), reinvocationPolicy: 'IfNeeded' },
  { patch: add('/metadata/finalizers', ['example.com/theirs']), reinvocationPolicy: 'IfNeeded' },
] as const
/** They are called in the order of these, and we between c and x. */
const PLACES = ['a', 'b', 'c', 'x', 'y', 'z']

/** Different orders in which they are called, drawn alike each time. */
function drawnOrders(): readonly (readonly string[])[] {
  let state = 20
  const draw = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  const orders = new Map<string, readonly string[]>()
  while (orders.size < ORDERS) {
    const places = [...PLACES]
    const order = MUTATORS.map(() => places.splice(draw(places.length), 1)[0] ?? '')
    orders.set(order.join(''), order)
  }
  return [...orders.values()]
}

t.test('three other mutating webhooks, in whichever order they are called', async (t) => {
  const cluster = await verdictCluster(t)
  for (const order of drawnOrders()) {
    const names = [...order, 'virt-platform-autopilot'].sort().map((place) => {
      const at = order.indexOf(place)
      return at < 0 ? 'ours' : (['minHealthy', 'label', 'finalizer'][at] ?? '')
    })
    await t.test(names.join(', '), async (t) => {
      const user = `writer-${order.join('')}`
      const send = (body: object, dryRun?: 'All') =>
        cluster.actor(user).send(healthCheck.path, {
          method: 'PATCH',
          contentType: 'application/merge-patch+json',
          body,
          query: { dryRun },
        })
      const probe = () => send({ metadata: { labels: { a: String(Math.random()) } } }, 'All')
      const before = essenceOf(await cluster.fresh(healthCheck))
      const rivals = []
      for (const [at, mutator] of MUTATORS.entries()) {
        const options = {
          name: `${order[at]}-other`,
          users: [user],
          ...mutator,
          patch: () => mutator.patch,
        }
        rivals.push(await startRival(t, cluster, options, probe))
      }
      for (const body of [
        { metadata: { labels: { theirs: 'yes' } } },
        { metadata: { labels: { theirs: 'yes' } }, spec: { minHealthy: '5%' } },
      ]) {
        const foreseen = await send(body, 'All')
        const said = await send(body)
        t.strictSame(said, foreseen, 'the dry run said so')
        t.match(said, { status: 200, error: '' })
        const { finalizers, labels, ...stored } = essenceOf(await cluster.read(healthCheck.path))
        const { finalizers: _, labels: ours, ...rest } = before
        t.strictSame(stored, rest, 'what is managed is as it was')
        t.strictSame(labels, { ...ours, theirs: 'yes', injected: 'yes' })
        t.strictSame(finalizers, ['example.com/theirs'])
      }
      for (const rival of rivals) await rival.leave()
      await send({ metadata: { finalizers: null } })
    })
  }
})
