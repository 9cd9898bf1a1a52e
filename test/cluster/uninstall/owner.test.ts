import t from 'tap'
import { untilKept } from '../certificates/certificates.ts'
import { audited } from '../harness/audit.ts'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { MUTATING, STATE, VALIDATING } from '../harness/objects.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'
import { OWNER, REGISTERED, untilGivenUp, untilGone, WITHIN_MS } from './uninstall.ts'

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const MAPS = '/api/v1/namespaces/default/configmaps'

t.test('the registration and what it belongs to', async (t) => {
  const cluster = await autopilotCluster(t, {
    controllerManager: true,
    isAudited: true,
    reconcilerFlags: ['--resync=1s'],
  })
  const { admin, read, autopilot, events, log } = cluster
  const registered = () => Promise.all(REGISTERED.map(read))
  const ownersOf = async () =>
    (await registered()).map((one) => one?.metadata.ownerReferences?.[0]?.uid)
  const identities = async () =>
    (await registered()).map(({ metadata }) => [metadata.uid, metadata.resourceVersion])
  const makeRole = async () => {
    const { apiVersion, kind, metadata, rules } = role
    const { name } = metadata
    const { status, body } = await admin('POST', ROLES, {
      apiVersion,
      kind,
      metadata: { name },
      rules,
    })
    if (status !== 201) throw new Error(`the role was answered ${status}: ${JSON.stringify(body)}`)
  }
  const untilOwned = async () => {
    const { uid } = (await read(OWNER)).metadata
    const isOwned = async () => (await ownersOf()).every((owner) => owner === uid)
    await until('both belong to the role that there is', isOwned, WITHIN_MS)
  }
  /** Makes an object, takes its owner away, and waits until the garbage collector has noticed. */
  const untilCollected = async () => {
    const ownerAt = `${MAPS}/probe-owner`
    await admin('POST', MAPS, { metadata: { name: 'probe-owner' } })
    const { uid } = (await read(ownerAt)).metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'probe-owner', uid }]
    await admin('POST', MAPS, { metadata: { name: 'probe', ownerReferences } })
    await admin('DELETE', ownerAt)
    await untilGone(cluster, `${MAPS}/probe`)
  }
  const role = await read(OWNER)
  // Judging begins with the first of the two.
  await until('both are registered', async () => (await registered()).every(Boolean), WITHIN_MS)

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'both processes are ended and started again',
      outcome: 'the webhook configurations stay as they are',
    },
    async (t) => {
      const before = await identities()
      for (const name of ['webhook', 'reconciler'] as const) await cluster.restart(name)
      await untilKept(cluster)
      await cluster.untilCompared('kubevirt-hyperconverged')
      t.same(await identities(), before)
    },
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the ClusterRole is deleted and made anew, as a forced upgrade does',
      outcome: 'the registration comes back at once and belongs to the new one',
    },
    async (t) => {
      for (const time of ['once', 'again']) {
        t.equal((await admin('DELETE', OWNER)).status, 200)
        await makeRole()
        await until(
          'the garbage collector took what was of the old one',
          async () => {
            const { uid } = (await read(OWNER)).metadata
            return (await ownersOf()).every((owner) => owner === undefined || owner === uid)
          },
          WITHIN_MS,
        )
        await untilOwned()
        const before = (await registered()).map(({ metadata }) => metadata.uid)
        await untilCollected()
        const after = (await registered()).map((one) => one?.metadata.uid)
        t.same(after, before, `nothing of it is garbage, ${time}`)
      }
      t.same(await events('WebhookUnregistered'), [], 'and nobody broke the glass')
    },
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the ClusterRole goes first, and the leader still runs',
      outcome:
        'the registration goes with it, and the leader waits until there is a ClusterRole again',
    },
    async (t) => {
      const { pid } = autopilot.reconciler.child()
      const since = audited(cluster).length
      const logged = log('reconciler').length
      t.equal((await admin('DELETE', OWNER)).status, 200)
      for (const path of REGISTERED) await untilGone(cluster, path)
      const written = await untilGivenUp(cluster, since)
      t.same(written, [], 'it registers nothing')
      t.same(await registered(), [undefined, undefined])
      t.ok(autopilot.reconciler.child().isRunning())
      t.equal(autopilot.reconciler.child().pid, pid)
      const complaints = log('reconciler').slice(logged).split('\n').filter(Boolean)
      t.ok(complaints.length < 50, `${complaints.length} lines in its log`)
      await makeRole()
      await until('it is registered', async () => (await registered()).every(Boolean), WITHIN_MS)
      await untilOwned()
      t.same(await events('WebhookUnregistered'), [], 'and nobody broke the glass')
    },
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: '`unregister` is run by somebody who may not',
      outcome: 'it says what may not be deleted, and who may',
    },
    async (t) => {
      const kubeconfig = cluster.kubeconfigFor({ name: 'bob', groups: ['visitors'] })
      const { code, stdout, stderr } = await run(['unregister', `--kubeconfig=${kubeconfig}`])
      t.same([code, stdout], [1, ''])
      for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
        t.match(stderr, `the ${kind} virt-platform-autopilot (`)
      t.match(stderr, /User "bob" cannot delete.*run this as somebody who may, .* cluster admin\n$/)
      t.ok((await registered()).every(Boolean))
    },
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: '`unregister` is run while the leader runs, twice, and another leader follows',
      outcome: 'the registration stays away for ten minutes',
    },
    async (t) => {
      const kubeconfig = cluster.kubeconfigFor({ name: 'alice', groups: ['platform-admins'] })
      for (const time of ['once', 'again']) {
        const said = await run(['unregister', `--kubeconfig=${kubeconfig}`])
        t.match(said, { code: 0, stdout: 'the webhook configurations are gone\n' }, time)
      }
      await until(
        'the leader has written down that both are away',
        async () => {
          const { data } = await read(STATE)
          return Object.keys(JSON.parse(data['unregistered.json'])).length === 2
        },
        WITHIN_MS,
      )
      const since = audited(cluster).length
      await cluster.restart('reconciler')
      await untilKept(cluster)
      await cluster.untilCompared('kubevirt-hyperconverged')
      const paths = [MUTATING, VALIDATING]
      const written = audited(cluster)
        .slice(since)
        .filter(({ verb, requestURI }) => verb === 'patch' && paths.some(isIn(requestURI)))
      t.same(written, [])
      t.same(await registered(), [undefined, undefined])
    },
  )
})

const isIn = (uri: string) => (path: string) => uri.startsWith(path)
