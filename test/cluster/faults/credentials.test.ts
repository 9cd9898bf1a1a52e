import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect as connectTo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { whoAmI } from '../../../src/shared/cluster/who-am-i.ts'
import { NAMESPACE } from '../harness/autopilot-fixture.ts'
import { until } from '../harness/until.ts'
import { faultyCluster, HEAL } from './faulty-cluster.ts'

const ACCOUNT = 'virt-platform-autopilot-reconciler'

t.test('how we are known to the API server', async (t) => {
  const cluster = await faultyCluster(t, { reconcilerFlags: ['--resync=1h'] })
  const { autopilot, admin, edit, survive, withoutWebhook, untilHealed, complaints } = cluster
  const folder = join(cluster.dataDir, 'autopilot')
  const tokenOf = (name: string) => {
    const file = cluster.kubeconfigFor({ name, groups: ['platform-admins'] })
    return JSON.parse(readFileSync(file, 'utf8')).users[0].user.token
  }
  /** A kubeconfig of the administrator's, changed. */
  const kubeconfigWith = (cluster: { kubeconfig: string }, user: object, place: object = {}) => {
    const config = JSON.parse(readFileSync(cluster.kubeconfig, 'utf8'))
    config.users[0].user = user
    Object.assign(config.clusters[0].cluster, place)
    const file = join(folder, 'kubeconfig-changed')
    writeFileSync(file, JSON.stringify(config))
    return file
  }

  await t.test('a token file, beside its kubeconfig, is read anew for each request', async (t) => {
    const file = kubeconfigWith(cluster, { tokenFile: 'their-token' })
    const tokens = join(folder, 'their-token')
    writeFileSync(tokens, `${tokenOf('alice')}\n`)
    const client = await connect(loadKubeconfig(file))
    t.teardown(client.close)
    t.equal(await whoAmI(client), 'alice')
    writeFileSync(tokens, tokenOf('gitops'))
    t.equal(await whoAmI(client), 'gitops')
    writeFileSync(tokens, 'no-token')
    await t.rejects(whoAmI(client), { name: 'ApiError', status: 401 })
  })

  await t.test('the proxy that a kubeconfig names is used', async (t) => {
    const asked: (string | undefined)[] = []
    const proxy = createServer()
    proxy.on('connect', ({ url }, socket) => {
      asked.push(url)
      const [host, port] = url?.split(':') ?? []
      const server = connectTo(Number(port), host)
      // Either may be reset when the client closes.
      for (const end of [socket, server]) end.on('error', () => undefined)
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      server.pipe(socket).pipe(server)
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    t.teardown(() => proxy.close())
    const { port } = proxy.address() as AddressInfo
    const through = { 'proxy-url': `http://127.0.0.1:${port}` }
    const user = { token: tokenOf('alice') }
    const client = await connect(loadKubeconfig(kubeconfigWith(cluster, user, through)))
    t.teardown(client.close)
    t.equal(await whoAmI(client), 'alice')
    t.same(new Set(asked), new Set([new URL(cluster.url).host]))

    const socks = kubeconfigWith(cluster, user, { 'proxy-url': 'socks5://127.0.0.1:1080' })
    await t.rejects(connect(loadKubeconfig(socks)), {
      name: 'KubeconfigError',
      message: 'the kubeconfig\'s proxy-url "socks5://127.0.0.1:1080" is no http or https URL',
    })
  })

  await t.test('a token that is rejected is told once, and its successor taken up', async (t) => {
    const path = `/api/v1/namespaces/${NAMESPACE}`
    /** A token that dies with a Secret. */
    const boundToken = async (name: string) => {
      const secret = await admin<{ metadata: { uid: string } }>('POST', `${path}/secrets`, {
        metadata: { name },
      })
      const { uid } = secret.body.metadata
      const { body } = await admin<{ status: { token: string } }>(
        'POST',
        `${path}/serviceaccounts/${ACCOUNT}/token`,
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name, uid } },
        },
      )
      return body.status.token
    }
    const file = join(folder, `kubeconfig-${ACCOUNT}`)
    const config = JSON.parse(readFileSync(file, 'utf8'))
    config.users[0].user = { tokenFile: 'our-token' }
    writeFileSync(file, JSON.stringify(config))
    const tokens = join(folder, 'our-token')
    writeFileSync(tokens, await boundToken('first'))
    await autopilot.reconciler.stop()
    const since = cluster.mark()
    autopilot.reconciler.start()
    const leads = () => cluster.log('reconciler').slice(since).includes('leader: keeping')
    await until('it leads', async () => leads(), 90_000)

    const rejected = /^the API server does not accept our credentials; trying again: .* 401 /
    await withoutWebhook(async () => {
      const work = async () => {
        await admin('DELETE', `${path}/secrets/first`)
        // By then it has asked, and was refused, five times.
        const isLost = async () =>
          complaints(since).some((line) => line.startsWith('no longer the leader'))
        await until('leadership is lost', isLost, 90_000)
        t.equal(complaints(since).filter((line) => rejected.test(line)).length, 1, 'told once')
        await edit()
        writeFileSync(tokens, await boundToken('second'))
        await untilHealed()
      }
      await survive(t, work, [HEAL])
    })
    const lines = complaints(since)
    t.same(
      lines.filter((line, index) => lines.indexOf(line) !== index),
      [],
      'nothing is told twice',
    )
  })
})
