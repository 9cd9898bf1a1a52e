import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'

import { type Controller, Manager } from '../../../../src/reconciler/manager/manager.ts'
import type { Client } from '../../../../src/shared/cluster/client.ts'

const unexpected = () => {
  throw new Error('nothing is asked of the cluster')
}

const CLIENT: Client = {
  server: 'https://nowhere',
  fieldManager: 'test',
  send: unexpected,
  stream: unexpected,
  close: async () => undefined,
}

/** A manager that writes down what it tells. */
function managed(leadership: 'elect' | 'assume' | 'never', client = CLIENT) {
  const log: string[] = []
  const manager = new Manager({
    client,
    namespace: 'default',
    lease: 'lease',
    holder: 'me',
    leadership,
    resyncMs: 3_600_000,
    onElected: () => log.push('elected'),
    onLost: (reason) => log.push(reason),
    onElectionTrouble: ({ message }) => log.push(message),
    onWatchTrouble: (source) => log.push(source),
    onWatchRecovery: () => log.push('recovered'),
  })
  const controller = (name: string, more: Partial<Controller> = {}): Controller => ({
    name,
    resync: () => [name],
    reconcile: async () => {
      log.push(`${name} reconciles`)
      return undefined
    },
    onError: (_key, { message }) => log.push(message),
    ...more,
  })
  return { manager, log, controller }
}

t.test('takes over in the order of the controllers before any of them works', async (t) => {
  const { manager, log, controller } = managed('assume')
  const takingOver = (name: string) => async () => {
    await turn()
    log.push(`${name} takes over`)
  }
  for (const name of ['a', 'b']) manager.add(controller(name, { onElected: takingOver(name) }))
  manager.enqueue('a', 'early')
  await manager.run()
  await turn()
  t.same(log, ['elected', 'a takes over', 'b takes over', 'a reconciles', 'b reconciles'])
  await manager.stop()
})

t.test('whoever never leads takes over what is published, too, and only reads', async (t) => {
  const { manager, log, controller } = managed('never')
  const onElected = async () => void log.push('takes over')
  manager.add(controller('writer', { onElected }))
  manager.add(controller('reader', { isReader: true }))
  await manager.run()
  await turn()
  t.same(log, ['takes over', 'reader reconciles'])
  t.notOk(manager.isLeader())
  t.notOk(manager.isLeading())
  await manager.stop()
})

t.test('starts nothing new in any queue while another finishes', async (t) => {
  const { manager, log, controller } = managed('assume')
  const slow = Promise.withResolvers<undefined>()
  manager.add(controller('slow', { reconcile: () => slow.promise }))
  manager.add(controller('other', { resync: () => [] }))
  await manager.run()
  await turn()
  const stopping = manager.stop()
  manager.enqueue('other', 'late')
  await turn()
  slow.resolve(undefined)
  await stopping
  t.same(log, ['elected'])
})

t.test('what was read for a leadership that was lost is not gone on from', async (t) => {
  // Free, held by somebody else, and free again, each time that the Lease is read.
  const holders = ['', 'somebody else']
  const send: Client['send'] = async (_path, { method = 'GET' } = {}) => {
    const holderIdentity = method === 'GET' ? (holders.shift() ?? '') : 'me'
    const body = { metadata: { name: 'lease' }, spec: { holderIdentity } }
    return { status: 200, headers: {}, body }
  }
  const { manager, log, controller } = managed('elect', { ...CLIENT, send })
  const terms: { signal: AbortSignal; read: () => void }[] = []
  const { promise: elected, resolve } = Promise.withResolvers<void>()
  const onElected = (signal: AbortSignal) =>
    new Promise<void>((read) => {
      if (terms.push({ signal, read }) === 2) resolve()
    })
  manager.add(controller('state', { onElected }))
  const running = manager.run()
  await elected
  const [first, second] = terms
  t.same(log, ['elected', 'another process holds it', 'elected'])
  t.ok(first?.signal.aborted)
  first?.read()
  await turn()
  t.notOk(manager.isLeading(), 'the first answer comes late')
  second?.read()
  await turn()
  t.ok(manager.isLeading())
  t.equal(log.at(-1), 'state reconciles')
  await manager.stop()
  await running
})

t.test('watches nothing any more once it has stopped, whoever asks', async (t) => {
  const { manager } = managed('assume')
  manager.start()
  await manager.stop()
  const at = { apiVersion: 'v1', resource: 'configmaps' }
  manager.store.follow('a look that was at work', [{ id: 'late', at }])
  t.notOk(manager.store.has('late'))
})
