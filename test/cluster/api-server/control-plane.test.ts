import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startControlPlane } from '../../../tools/control-plane/control-plane.ts'
import { isAlive } from '../../../tools/control-plane/processes.ts'
import { send } from '../../../tools/control-plane/request.ts'
import { testCluster } from '../harness/fixture.ts'
import { until } from '../harness/until.ts'

const ALICE = { name: 'alice', groups: ['platform-admins'] }
const GITOPS = { name: 'gitops', groups: ['platform-admins'] }
const AUDIT = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'Metadata', users: ['alice'] }, { level: 'None' }],
}

t.test('a test cluster', async (t) => {
  const cluster = await testCluster(t, { auditPolicy: AUDIT, isFirstStart: true })

  await t.test('serves the custom kinds, their samples and the schemas', async (t) => {
    const pool = '/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker'
    const { status, body } = await cluster.admin<{ status: { machineCount: number } }>('GET', pool)
    t.equal(status, 200)
    t.equal(body.status.machineCount, 3)
    const schemas = await cluster.admin('GET', '/openapi/v3/apis/hco.kubevirt.io/v1')
    t.equal(schemas.status, 200)
  })

  await t.test('knows its users, who reach it with kubectl', async (t) => {
    for (const user of [ALICE, GITOPS, { name: 'guest', groups: ['visitors'] }]) {
      const { code, stdout } = await cluster.kubectl(['auth', 'whoami', '-o', 'json'], { user })
      t.equal(code, 0)
      const { userInfo } = JSON.parse(stdout).status
      t.match(userInfo, { username: user.name })
      t.ok(userInfo.groups.includes(user.groups[0]))
    }
    const create = ['create', 'namespace']
    t.match(await cluster.kubectl([...create, 'of-alice'], { user: ALICE }), { code: 0 })
    const guest = { name: 'guest', groups: ['visitors'] }
    t.match(await cluster.kubectl([...create, 'of-guest'], { user: guest }), {
      code: 1,
      stderr: /namespaces is forbidden: User "guest"/,
    })
  })

  await t.test('gives kubectl what it reads', async (t) => {
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'read' } }
    const input = JSON.stringify(manifest)
    const { stdout } = await cluster.kubectl(['apply', '--server-side', '-f-'], { input })
    t.equal(stdout, 'configmap/read serverside-applied\n')
  })

  await t.test('issues tokens for service accounts', async (t) => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await cluster.admin('POST', accounts, { metadata: { name: 'robot' } })
    const { body } = await cluster.admin<{ status: { token: string } }>(
      'POST',
      `${accounts}/robot/token`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    )
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const { url, ca } = cluster
    const { text } = await send(url + review, {
      method: 'POST',
      ca,
      token: body.status.token,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    })
    t.match(text, '"username":"system:serviceaccount:default:robot"')
  })

  await t.test('writes down what its audit policy names', async (t) => {
    const lines = readFileSync(cluster.auditLog, 'utf8').trim().split('\n')
    const users = new Set(lines.map((line) => JSON.parse(line).user.username))
    t.same([...users], ['alice'])
  })

  await t.test('loses its API server, and gets it back with its data', async (t) => {
    await cluster.stopApiServer()
    t.same(Object.keys(cluster.pids), ['etcd'])
    await t.rejects(cluster.admin('GET', '/readyz'), { code: 'ECONNREFUSED' })
    await cluster.startApiServer()
    t.match(await cluster.admin('GET', '/api/v1/namespaces/of-alice'), { status: 200 })
  })

  await t.test('runs beside another one', async (t) => {
    const { binaries } = cluster
    const print = (line: string) => t.comment(line)
    const flags = ['--no-such-flag']
    const stale = mkdtempSync(join(tmpdir(), 'virt-platform-autopilot-99999999-'))
    const [other, broken] = await Promise.allSettled([
      startControlPlane({ binaries, print }),
      startControlPlane({ binaries, print, apiserverFlags: flags }),
    ])
    t.match(broken, { status: 'rejected', reason: /kube-apiserver.*\n.*unknown flag: --no-such/ })
    if (other.status === 'rejected') throw other.reason
    const { value: plane } = other
    t.notOk(existsSync(stale), 'what a dead process left is removed')
    t.not(plane.url, cluster.url)
    t.equal((await send(plane.url, plane)).status, 200)
    t.match(await cluster.admin('GET', '/readyz'), { status: 200, body: 'ok' })

    const pids = Object.values(plane.pids)
    await plane.stop()
    t.notOk(existsSync(plane.dataDir), 'its data directory is gone')
    t.same(pids.filter(isAlive), [], 'and so are its processes')
    await t.rejects(send(plane.url, plane), { code: 'ECONNREFUSED' })
    await plane.stop()
  })
})

const PARENT = `
const { findBinaries } = await import('${import.meta.resolve('../../../tools/go-programs/binaries.ts')}')
const { startControlPlane } = await import('${import.meta.resolve('../../../tools/control-plane/control-plane.ts')}')
const print = console.error
const binaries = await findBinaries({ env: process.env, print })
const { url, pids, dataDir } = await startControlPlane({ binaries, print })
console.log(JSON.stringify({ url, pids: Object.values(pids), dataDir }))
setInterval(() => undefined, 60_000)`

t.test('a control plane does not outlive a parent that was killed', async (t) => {
  const args = ['--input-type=module', '--eval', PARENT]
  const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => parent.kill('SIGKILL'))
  const [line] = await once(parent.stdout, 'data')
  const { url, pids, dataDir } = JSON.parse(String(line))
  t.equal(pids.length, 2)
  t.ok(pids.every(isAlive))
  parent.kill('SIGKILL')
  await until('nothing of it is left', async () => !(pids.some(isAlive) || existsSync(dataDir)))
  await t.rejects(send(url), { code: 'ECONNREFUSED' })
})
