import t, { type Test } from 'tap'
import { type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import {
  HEALTH_CHECK,
  HYPERCONVERGED,
  METALLB,
  MUTATING,
  STATE,
  VALIDATING,
} from '../harness/objects.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'
import type { Manner } from './bad-webhook.ts'
import { brickableCluster, editOf } from './brickable-cluster.ts'

const MERGE = 'application/merge-patch+json'
const LONG_MS = 120_000
const CONFIGURATIONS = 'mutatingwebhookconfigurations,validatingwebhookconfigurations'
const BREAK_GLASS = ['delete', CONFIGURATIONS, 'virt-platform-autopilot', '--ignore-not-found']
const SERVING = `/api/v1/namespaces/${NAMESPACE}/secrets/virt-platform-autopilot-webhook-tls`
const KINDS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

t.test('a webhook that is broken, where the failure policy is Fail', async (t) => {
  const cluster = await brickableCluster(t, {
    reconcilerFlags: ['--failure-policy=Fail', '--resync=500ms'],
  })
  const { admin, autopilot, read, spare, alarming, untilFate, untilHealed, mend, withBad, metric } =
    cluster
  const { webhook } = autopilot
  const alice = cluster.person('alice')
  const edit = (value: string) => admin<Loose>('PATCH', HEALTH_CHECK, editOf(value), MERGE)
  const registered = () => Promise.all([MUTATING, VALIDATING].map(read))

  /** Proves that a managed object can neither be edited nor deleted, and that an alert sees it. */
  const refuses = async (t: Test) => {
    const before = await alarming()
    const { resourceVersion } = (await read(HEALTH_CHECK)).metadata
    const answer = await edit('1%')
    t.equal(answer.status, 500)
    t.match(answer.body.message, 'failed calling webhook "mutate.platform.kubevirt.io"')
    t.equal((await read(HEALTH_CHECK)).metadata.resourceVersion, resourceVersion)
    const deletion = await admin<Loose>('DELETE', METALLB)
    t.equal(deletion.status, 500)
    t.match(deletion.body.message, 'failed calling webhook "validate.platform.kubevirt.io"')
    const growth = (await alarming()).map((count, entry) => count - (before[entry] ?? 0))
    t.same(growth, [1, 1], 'the API server counts both where the alert looks')
  }

  /** Proves that nobody is asked any more. */
  const isRestored = async (t: Test, value: string) => {
    await untilFate('unjudged')
    t.match(await edit(value), { status: 200, body: editOf(value) })
    await untilHealed(value)
  }

  /** Waits until the leader looked at certificates and registration once more, from begin to end. */
  const untilKept = async () => {
    // It writes the Secret before it looks at the registration: the second writing comes after the first look.
    for (const _time of ['once', 'twice']) {
      const { uid } = (await read(SERVING)).metadata
      await admin('DELETE', SERVING)
      await until(
        'the Secret is there again',
        async () => ![undefined, uid].includes((await read(SERVING))?.metadata.uid),
        LONG_MS,
      )
    }
  }

  const switchOffAndOn = async () => {
    for (const [state, mode] of [
      ['=false', 'mode="off"'],
      ['-', 'mode="all"'],
    ] as const) {
      const annotation = `platform.kubevirt.io/autopilot${state}`
      await alice(['annotate', ...HYPERCONVERGED, '--overwrite', annotation])
      await until(
        'the leader knows',
        async () => (await metric('reconciler', 'virt_platform_activation_info', mode)) === 1,
        LONG_MS,
      )
      await untilKept()
    }
    await until('it is registered again', async () => !(await registered()).includes(undefined))
  }

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'no replica runs, where the failure policy is Fail',
      outcome:
        'writes to managed objects alone are refused; once both webhook configurations are deleted, every write passes',
    },
    async (t) => {
      await webhook.child().kill()
      await spare(t)
      await refuses(t)
      t.match(await alice(BREAK_GLASS), { code: 0 })
      await isRestored(t, '31%')
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'its configurations were deleted, and the leader is killed',
      outcome:
        'the next leader does not register it either: broken glass stays broken for ten minutes',
    },
    async (t) => {
      await until(
        'the state tells of it',
        async () => {
          const since = JSON.parse((await read(STATE)).data['unregistered.json'])
          return KINDS.every((kind) => kind in since)
        },
        LONG_MS,
      )
      await autopilot.reconciler.child().kill()
      t.match(await edit('32%'), { status: 200 })
      autopilot.reconciler.start()
      await untilHealed('32%')
      await untilKept()
      t.same(await registered(), [undefined, undefined])
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'its configurations were deleted, and the product is switched off and on',
      outcome: 'it is registered again',
    },
    async (t) => {
      webhook.start()
      await switchOffAndOn()
      await untilFate('judged')
      t.match(await registered(), [{ webhooks: [{ failurePolicy: 'Fail' }] }, {}])
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it answers none, and the failure policy is Fail',
      outcome:
        'writes to managed objects alone are refused; once `unregister` was run, every write passes',
    },
    async (t) => {
      await webhook.child().kill()
      await withBad('hung', async () => {
        await spare(t)
        await refuses(t)
        const kubeconfig = cluster.kubeconfigFor({ name: 'alice', groups: ['platform-admins'] })
        t.match(await run(['unregister', `--kubeconfig=${kubeconfig}`]), { code: 0 })
        await isRestored(t, '33%')
      })
      webhook.start()
      await switchOffAndOn()
      await untilFate('judged')
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault:
        'it says nothing, answers late, answers 500, answers garbage or resets, and the failure policy is Fail',
      outcome: 'writes to managed objects alone are refused until it is well again',
    },
    async (t) => {
      const manners: readonly Manner[] = ['silent', 'slow', 'error 500', 'garbage', 'reset']
      await webhook.child().kill()
      for (const manner of manners) {
        await t.test(manner, async (t) => {
          await withBad(manner, async () => {
            await spare(t)
            await refuses(t)
          })
        })
      }
      await mend()
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'its configurations are deleted while neither process runs',
      outcome:
        'the first leader does not register it either: broken glass stays broken for ten minutes',
    },
    async (t) => {
      await Promise.all([webhook.child().kill(), autopilot.reconciler.child().kill()])
      await refuses(t)
      t.match(await alice(BREAK_GLASS), { code: 0 })
      await untilFate('unjudged')
      t.match(await edit('34%'), { status: 200 })
      autopilot.reconciler.start()
      await untilHealed('34%')
      await untilKept()
      t.same(await registered(), [undefined, undefined])
    },
  )
})
