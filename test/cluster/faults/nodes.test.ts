import t from 'tap'
import type { Passed, Which } from '../harness/network/proxy.ts'
import { STATE } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { faultyCluster, HEAL } from './faulty-cluster.ts'

// The page of a list is 100.
const NODES = 110
const AT_ONCE = 10
const GPU = 'feature.node.kubernetes.io/pci-0302_10de.present'

t.test('more nodes than one page of a list', async (t) => {
  const cluster = await faultyCluster(t, {
    reconcilerFlags: ['--resync=1h'],
    // It has GPUs, which here only the last node is to have.
    only: ({ metadata }) => metadata.name !== 'worker-gpu-0',
  })
  const { autopilot, admin, proxy, edit, survive, untilHealed, read, complaints, mark } = cluster
  const names = Array.from(
    { length: NODES },
    (_, index) => `many-${String(index).padStart(4, '0')}`,
  )
  const create = async (name: string) => {
    const labels = { 'node-role.kubernetes.io/infra': '' }
    const { status } = await admin('POST', '/api/v1/nodes', { metadata: { name, labels } })
    if (status !== 201) throw new Error(`creating ${name}: ${status}`)
  }
  while (names.length > 0) await Promise.all(names.splice(0, AT_ONCE).map(create))
  const hasGpu = async () => JSON.parse((await read(STATE)).data['facts.json']).hardware.gpuPresent
  t.equal(await hasGpu(), false)
  await admin('POST', '/api/v1/nodes', { metadata: { name: 'zz-last', labels: { [GPU]: 'true' } } })
  await until('the last node is seen as it comes', hasGpu)
  await until(
    'what its devices call for is made, and written down',
    async () => 'pci-passthrough' in JSON.parse((await read(STATE)).data['applied.json']),
  )

  const isOfNodes: Which = ({ path, account }) =>
    path === '/api/v1/nodes' && account === 'reconciler'
  const isList: Which = (one) => isOfNodes(one) && !one.isWatch
  const isSecondPage: Which = (one) => isList(one) && one.query.has('continue')
  await autopilot.webhook.child().kill()

  /** Starts the reconciler anew, edits an object while the fault lasts, and ends the fault. */
  const startBlind = async (which: Which, status: number) => {
    await autopilot.reconciler.stop()
    const before = proxy.passed.length
    const since = mark()
    proxy.refuse(which, Number.POSITIVE_INFINITY, { status })
    autopilot.reconciler.start()
    const passed = () => proxy.passed.slice(before)
    const refused = () => passed().filter((one) => which(one) && one.status === status)
    await until('it is refused again and again', async () => refused().length >= 3, 90_000)
    const isLeader = async () => cluster.log('reconciler').slice(since).includes('leader: keeping')
    await until('it leads', isLeader, 90_000)
    return { passed, since }
  }

  const faults = [
    { fault: 'the nodes are forbidden', which: isList, status: 403 },
    { fault: 'the second page of the nodes cannot be read', which: isSecondPage, status: 500 },
  ]
  for (const { fault, which, status } of faults) {
    await t.test(`while ${fault}, nothing is decided and nothing written`, async (t) => {
      let isOver = false
      const work = async () => {
        const { passed, since } = await startBlind((one) => !isOver && which(one), status)
        await edit()
        const more = passed().filter(which).length + 2
        await until('it goes on asking', async () => passed().filter(which).length >= more, 90_000)
        t.same(passed().filter(isPatch), [], 'it has not even tried')
        const told = complaints(since).filter((line) => !/leader/.test(line))
        t.equal(told.length, 1, 'told once')
        t.match(told[0], new RegExp(`^cannot read nodes; trying again: .* ${status} `))
        isOver = true
        await untilHealed()
        t.ok(passed().filter(isSecondPage).at(-1)?.status === 200, 'all pages were read')
      }
      await survive(t, work, [HEAL])
      t.equal(await hasGpu(), true)
    })
  }

  await t.test('when the nodes are forbidden later, the last that was read stays', async (t) => {
    let isOver = false
    // A watch that is cut within its first half second was in trouble all the while.
    const openedAt = performance.now()
    await until('the watch has lasted', async () => performance.now() - openedAt > 1_000)
    const work = async () => {
      const before = proxy.passed.length
      const since = mark()
      proxy.refuse((one) => !isOver && isOfNodes(one), Number.POSITIVE_INFINITY, { status: 403 })
      proxy.cutWatches(isOfNodes)
      const refused = () => proxy.passed.slice(before).filter((one) => isList(one))
      await until('it is refused again and again', async () => refused().length >= 3, 90_000)
      await edit()
      await untilHealed()
      t.equal(complaints(since).filter((line) => /cannot read nodes/.test(line)).length, 1)
      isOver = true
      await until('it reads them again', async () => refused().at(-1)?.status === 200, 90_000)
    }
    await survive(t, work, [HEAL])
    t.equal(await hasGpu(), true)
  })
})

const isPatch = ({ method, path }: Passed) => method === 'PATCH' && !path.includes('/leases/')
