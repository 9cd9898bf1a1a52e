import t from 'tap'
import { Manager, type ManagerOptions } from '../../src/reconciler/manager/manager.ts'
import { connect, isConflict } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import { apply } from '../../src/shared/cluster/resource.ts'
import { testCluster } from './fixture.ts'
import { until } from './until.ts'

const NAMESPACE = 'default'
const IN_NAMESPACE = { apiVersion: 'v1', resource: 'configmaps', namespace: NAMESPACE }
const PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`

t.test('the manager on a real API server, with a controller of a few lines', async (t) => {
  const cluster = await testCluster(t)
  const client = await connect(loadKubeconfig(cluster.kubeconfig), 'first-manager')
  t.teardown(client.close)
  const configMap = (
    name: string,
    data: object,
    labels: Readonly<Record<string, string>> = { kept: 'yes' },
  ) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: NAMESPACE, labels },
    data,
  })
  const create = (name: string, labels?: Readonly<Record<string, string>>) =>
    cluster.admin('POST', PATH, configMap(name, { value: '1' }, labels))

  /** A manager that writes down which keys it reconciles, and fails as long as it is told to. */
  const start = (holder: string, options: Partial<ManagerOptions> = {}) => {
    const log: string[] = []
    const failing = new Set<string>()
    const manager = new Manager({
      client,
      namespace: NAMESPACE,
      lease: 'manager-test',
      holder,
      leadership: 'elect',
      resyncMs: 3_600_000,
      onElected: () => log.push('elected'),
      onLost: (reason) => log.push(`lost: ${reason}`),
      onElectionTrouble: ({ message }) => log.push(message),
      onWatchTrouble: (source, { message }) => log.push(`${source}: ${message}`),
      onWatchRecovery: () => log.push('recovered'),
      ...options,
    })
    manager.add({
      name: 'kept',
      sources: [{ id: 'kept', at: IN_NAMESPACE, labelSelector: 'kept=yes' }],
      keysOf: ({ source, key }) => (source === 'kept' && key !== undefined ? [{ key }] : []),
      resync: () => [],
      onElected: async () => void log.push('took over'),
      reconcile: async (key) => {
        if (failing.has(key)) throw new Error(`${key} fails`)
        const found = manager.store.object('kept', key)
        log.push(`${key}=${(found?.data as { value?: string } | undefined)?.value ?? 'gone'}`)
        return undefined
      },
      onError: (_key, { message }) => log.push(message),
    })
    manager.start()
    const running = manager.run()
    const stop = async () => {
      await manager.stop()
      await running
    }
    return { manager, log, failing, stop }
  }
  const untilLogged = (log: readonly string[], line: string) =>
    until(`"${line}" in ${log.join(', ')}`, async () => log.includes(line))

  await create('before')
  const first = start('first')
  t.teardown(first.stop)
  await untilLogged(first.log, 'took over')
  t.same(first.log.slice(0, 2), ['elected', 'took over'])
  await until('it is read', async () => first.manager.store.isSynced(['kept']))

  await t.test(
    'one object of a collection is one key, and only what is labelled counts',
    async (t) => {
      await create('other', { kept: 'no' })
      await create('new')
      await untilLogged(first.log, `${NAMESPACE}/new=1`)
      t.same(
        first.manager.store.objects('kept').map(({ metadata }) => metadata.name),
        ['before', 'new'],
      )
      await cluster.admin('DELETE', `${PATH}/new`)
      await untilLogged(first.log, `${NAMESPACE}/new=gone`)
      t.notOk(first.log.some((line) => line.includes('other')))
    },
  )

  await t.test('a key that fails is worked on again', async () => {
    const key = `${NAMESPACE}/before`
    first.failing.add(key)
    const change = (value: string) =>
      cluster.admin('PATCH', `${PATH}/before`, { data: { value } }, 'application/merge-patch+json')
    await change('2')
    await untilLogged(first.log, `${key} fails`)
    first.failing.delete(key)
    await change('3')
    await untilLogged(first.log, `${key}=3`)
  })

  await t.test('an apply without force leaves what another owns', async (t) => {
    await apply(client, IN_NAMESPACE, configMap('shared', { value: 'ours' }))
    const others = configMap('shared', { value: 'theirs' })
    const asOther = { fieldManager: 'second-manager' }
    await t.rejects(
      apply(client, IN_NAMESPACE, others, { ...asOther, force: false }).catch((error) => {
        t.ok(isConflict(error))
        t.match(error.message, /first-manager/)
        throw error
      }),
    )
    t.match(await apply(client, IN_NAMESPACE, others, asOther), { data: { value: 'theirs' } })
  })

  await t.test('a second manager leads when the first has ended, and only then', async (t) => {
    const second = start('second')
    t.teardown(second.stop)
    await until('it is read', async () => second.manager.store.isSynced(['kept']))
    await create('while-first-leads')
    await untilLogged(first.log, `${NAMESPACE}/while-first-leads=1`)
    t.notOk(second.manager.isLeading())
    await first.stop()
    await untilLogged(second.log, 'took over')
    await create('while-second-leads')
    await untilLogged(second.log, `${NAMESPACE}/while-second-leads=1`)
    t.notOk(second.log.some((line) => line.includes('while-first-leads')))
    t.notOk(first.manager.isLeading())
  })
})
