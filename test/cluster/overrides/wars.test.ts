import t from 'tap'
import { ApiError, connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { PLATFORM_ADMINS } from '../../../tools/control-plane/kubeconfig.ts'
import {
  type AutopilotCluster,
  autopilotCluster,
  type Loose,
} from '../harness/autopilot-fixture.ts'
import type { Scope } from '../harness/fixture.ts'
import { HCO, HEALTH_CHECK } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const PAUSED = 'platform.kubevirt.io/reconcile-paused'
const CHECK = ['nodehealthcheck', 'virt-node-health-check']
// Longer than a busy machine may stand still: what a war does must be seen before the quiet ends it.
const QUIET_MS = 20_000

/** How a write ended. */
interface Written {
  readonly code: number
  readonly message: string
}

/** Writes of one user, each as one request. */
interface Writer {
  readonly merge: (path: string, patch: object, fieldManager: string) => Promise<Written>
  readonly apply: (path: string, object: object, fieldManager: string) => Promise<Written>
}

async function writer(t: Scope, cluster: AutopilotCluster, name: string): Promise<Writer> {
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  const headers = { 'impersonate-user': name, 'impersonate-group': PLATFORM_ADMINS }
  const send =
    (contentType: string) => async (path: string, body: object, fieldManager: string) => {
      const query = { fieldManager, ...(contentType.includes('apply') && { force: true }) }
      try {
        const input = { method: 'PATCH', contentType, body, query, headers }
        return { code: (await client.send(path, input)).status, message: '' }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return { code: error.status, message: error.message }
      }
    }
  return {
    merge: send('application/merge-patch+json'),
    apply: send('application/apply-patch+yaml'),
  }
}

/** Does something again and again until the answer is one that is waited for, a bounded number of times. */
async function repeat(times: number, write: (round: number) => Promise<Written>) {
  const codes: number[] = []
  let last: Written = { code: 0, message: '' }
  for (let round = 0; round < times; round++) {
    last = await write(round)
    codes.push(last.code)
  }
  return { codes, last }
}

const healthy = (minHealthy: string) => ({ spec: { minHealthy } })

t.test('edit wars at the door', async (t) => {
  const cluster = await autopilotCluster(t, { webhookFlags: [`--quiet-period=${QUIET_MS}ms`] })
  const { read, events, untilEvent, metric } = cluster
  const generation = async (path: string) => (await read(path)).metadata.generation
  const active = (name: string) =>
    metric('webhook', 'virt_platform_thrashing_active', `name="${name}"`)
  const wars = () => metric('webhook', 'virt_platform_thrashing_total')
  await t.test('a loop of updates is corrected five times, then denied by name', async (t) => {
    const alice = await writer(t, cluster, 'alice')
    const before = await generation(HEALTH_CHECK)
    const loop = await repeat(7, (round) =>
      alice.merge(HEALTH_CHECK, healthy(`${round + 1}%`), 'gitops-sync'),
    )
    t.same(loop.codes, [200, 200, 200, 200, 200, 403, 403])
    t.match(
      loop.last.message,
      /\/spec\/minHealthy is kept by virt-platform-autopilot \(node-health-standard: /,
    )
    t.match(
      loop.last.message,
      /alice \(field manager gitops-sync\) edits managed fields of this object again and again/,
    )
    t.match(
      loop.last.message,
      /kubectl annotate nodehealthcheck virt-node-health-check --overwrite platform.kubevirt.io\/patch=/,
    )
    t.equal(await generation(HEALTH_CHECK), before, 'nothing of it was ever stored')
    const { regarding, note } = await untilEvent(
      'ThrashingDetected',
      /^alice \(field manager gitops-sync\) changes \/spec\/minHealthy/,
    )
    t.match(regarding, { kind: 'NodeHealthCheck', name: 'virt-node-health-check' })
    t.match(note, /denied until/)
    t.equal((await events('ThrashingDetected')).length, 1)
    t.equal(await active('virt-node-health-check'), 1)
    t.equal(await wars(), 1)
    t.equal(await metric('webhook', 'virt_platform_admission_contests_total'), 7)

    await t.test('rotating the field manager, or applying with force, does not help', async (t) => {
      const object = {
        apiVersion: 'remediation.medik8s.io/v1alpha1',
        kind: 'NodeHealthCheck',
        metadata: { name: 'virt-node-health-check' },
      }
      t.match(await alice.merge(HEALTH_CHECK, healthy('1%'), 'another'), { code: 403 })
      t.match(await alice.apply(HEALTH_CHECK, { ...object, ...healthy('2%') }, 'a-third'), {
        code: 403,
      })
      t.match(
        await alice.merge(HEALTH_CHECK, { metadata: { labels: { team: 'a' } } }, 'gitops-sync'),
        { code: 200 },
        'what is not managed stays hers',
      )
    })

    await t.test('nobody else is denied, nor is she elsewhere', async (t) => {
      const bob = await writer(t, cluster, 'bob')
      t.match(await bob.merge(HEALTH_CHECK, healthy('90%'), 'kubectl-edit'), { code: 200 })
      const edit = { spec: { virtualization: { liveMigrationConfig: { allowPostCopy: false } } } }
      t.match(await alice.merge(HCO, edit, 'gitops-sync'), { code: 200 })
    })

    await t.test('a dry run gets the same answer, and moves nothing', async (t) => {
      const args = [
        'patch',
        ...CHECK,
        '--type=merge',
        `-p${JSON.stringify(healthy('3%'))}`,
        '--dry-run=server',
      ]
      const contests = await metric('webhook', 'virt_platform_admission_contests_total')
      t.match(await cluster.person('alice')(args), { code: 1, stderr: /again and again/ })
      t.equal(await metric('webhook', 'virt_platform_admission_contests_total'), contests)
    })

    await t.test('it ends by itself when it is quiet', async (t) => {
      await until('the war is over', async () => (await active('virt-node-health-check')) === 0)
      t.match(await alice.merge(HEALTH_CHECK, healthy('4%'), 'gitops-sync'), { code: 200 })
      t.equal(await wars(), 1)
    })
  })

  await t.test('a loop of server-side applies with force is a war too', async (t) => {
    const carol = await writer(t, cluster, 'carol')
    const object = (value: boolean, round: number) => ({
      apiVersion: 'hco.kubevirt.io/v1',
      kind: 'HyperConverged',
      metadata: {
        name: 'kubevirt-hyperconverged',
        namespace: 'openshift-cnv',
        annotations: { round: String(round) },
      },
      spec: { deployment: { uninstallStrategy: value ? 'RemoveWorkloads' : 'Whatever' } },
    })
    const loop = await repeat(7, (round) =>
      carol.apply(HCO, object(round % 2 === 0, round), `argocd-${round}`),
    )
    t.equal(loop.last.code, 403, loop.codes.join())
    t.match(loop.last.message, /carol \(field manager argocd-6\) edits managed fields of this/)
    t.equal((await read(HCO)).spec.deployment.uninstallStrategy, 'BlockUninstallIfWorkloadsExist')
  })
})

t.test('edit wars that get past the webhook', async (t) => {
  const cluster = await autopilotCluster(t, {
    reconcilerFlags: ['--heal-limit=3', '--heal-window=2s', '--resync=1s'],
  })
  const { read, untilEvent, metric, events } = cluster
  const intruder = await writer(t, cluster, 'mallory')
  const active = () => metric('reconciler', 'virt_platform_thrashing_active')
  const annotations = async () => (await read(HEALTH_CHECK)).metadata.annotations ?? {}
  const minHealthy = async () => (await read(HEALTH_CHECK)).spec.minHealthy
  const baseline = await minHealthy()
  await cluster.autopilot.webhook.child().kill()

  const fight = async () => {
    let round = 0
    await until(
      'management is paused',
      async () => {
        if (PAUSED in (await annotations())) return true
        await intruder.merge(HEALTH_CHECK, healthy(`${(round++ % 40) + 1}%`), 'war-machine')
        return false
      },
      60_000,
    )
  }

  await t.test('a heal that nobody contests is no war', async (t) => {
    await intruder.merge(HEALTH_CHECK, healthy('7%'), 'war-machine')
    await until('it is healed', async () => (await minHealthy()) === baseline)
    t.equal(await active(), 0)
  })

  await t.test('are throttled, then end in a pause that names the field manager', async (t) => {
    await fight()
    await untilEvent(
      'Throttled',
      /\/spec\/minHealthy is changed by war-machine as often as it is put back/,
    )
    const { note, regarding } = await untilEvent(
      'ThrashingDetected',
      /by war-machine as often as it is put back: management is paused/,
    )
    t.equal(regarding.name, 'virt-node-health-check')
    const { managedFields } = (await read(HEALTH_CHECK)).metadata
    const ours = managedFields.find(
      ({ manager }: Loose) => manager === 'virt-platform-autopilot-pause',
    )
    t.ok(ours.fieldsV1['f:metadata']['f:annotations'][`f:${PAUSED}`])
    t.equal(await metric('reconciler', 'virt_platform_thrashing_total'), 1)
    t.equal(await active(), 1)
    t.equal((await events('ThrashingDetected')).length, 1)

    await t.test('while it lasts nothing is written', async (t) => {
      await intruder.merge(HEALTH_CHECK, healthy('11%'), 'war-machine')
      await cluster.untilCompared('virt-node-health-check')
      t.equal(await minHealthy(), '11%')
    })

    await t.test('a new leader knows whose pause it is', async (t) => {
      await cluster.autopilot.reconciler.stop()
      cluster.autopilot.reconciler.start()
      await until('it is told again', async () => (await active().catch(() => 0)) === 1)
      t.equal(await minHealthy(), '11%')
    })

    await t.test('the command of the event resumes, and the war is forgotten', async (t) => {
      const command = note.slice(note.indexOf('kubectl annotate'))
      t.match(await cluster.person('alice').shell(command), { code: 0 })
      await until('it is healed', async () => (await minHealthy()) === baseline)
      await until('no war is told of', async () => (await active()) === 0)
      await intruder.merge(HEALTH_CHECK, healthy('12%'), 'war-machine')
      await until('it is healed again at once', async () => (await minHealthy()) === baseline)
      t.notOk(PAUSED in (await annotations()))
    })
  })

  await t.test(
    'a war of deletions is slowed down, and the object is back when it ends',
    async (t) => {
      await until(
        'it is throttled',
        async () => {
          await cluster.admin('DELETE', HEALTH_CHECK)
          return (await events('Throttled')).some(({ note }) =>
            /the object, which is deleted/.test(note),
          )
        },
        60_000,
      )
      await until('it is back', () => read(HEALTH_CHECK), 30_000)
      t.equal(await minHealthy(), baseline)
      await until('no war is told of', async () => (await active()) === 0)
    },
  )
})
