import t from 'tap'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { NAMESPACE, objectsIn } from '../../chart/helm.ts'
import { CHOSEN } from '../../chart/matrix.ts'
import type { Loose } from '../../chart/pods.ts'
import { asLine, audited } from '../harness/audit.ts'
import {
  HCO,
  HEALTH_CHECK,
  METALLB,
  MUTATING,
  PCI,
  VALIDATING,
} from '../harness/autopilot-fixture.ts'
import { until } from '../harness/until.ts'
import { chartCluster } from './installed.ts'

const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
const PROCESSES = ['webhook', 'reconciler'] as const
const WAIT = ['--wait', '--timeout=3m']
const EDIT = ['patch', 'nodehealthcheck', 'virt-node-health-check', '--type=merge', '-p']

t.test('the chart, installed', async (t) => {
  const cluster = await chartCluster(t)
  const { admin, helm, kubectl, runPod, webhookPort } = cluster
  const read = async (path: string): Promise<Loose> => {
    const { status, body } = await admin<Loose>('GET', path)
    return status === 404 ? undefined : body
  }
  const deployment = (name: string) => read(`${DEPLOYMENTS}/virt-platform-autopilot-${name}`)
  const secrets = async () => {
    const { items } = await read(`${SECRETS}?fieldSelector=type!=helm.sh/release.v1`)
    return items.map(({ metadata, data }: Loose) => ({ name: metadata.name, data }))
  }
  // Both processes have the machine's ports to share.
  const [webhookOps, reconcilerOps] = await Promise.all([freePort(), freePort()])
  const ops = (port: number) => `--ops-listen=127.0.0.1:${port}`
  const values = {
    ...CHOSEN,
    activation: 'on',
    disruptiveChanges: 'apply',
    webhook: { port: webhookPort, extraArgs: [ops(webhookOps)] },
    reconciler: { extraArgs: [ops(reconcilerOps), '--webhook-timeout=10'] },
  }

  await t.test('rolls out, and its processes start on what it says', async (t) => {
    const said = await helm('install', ['--create-namespace', ...WAIT], values)
    t.match(said, /STATUS: deployed/)
    for (const name of PROCESSES) {
      const { status, ...object } = await deployment(name)
      t.match(status, { availableReplicas: 2, updatedReplicas: 2 })
      await runPod(object)
    }
    await until('both are ready', async () => {
      const replies = [webhookOps, reconcilerOps].map((port) =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      return (await Promise.all(replies)).every(Boolean)
    })
  })

  await t.test('does the main job', async (t) => {
    await until('what is missing is made', () => read(PCI))
    const path = `${HEALTH_CHECK}?dryRun=All`
    await until('the webhook is asked, through its Service', async () => {
      const edit = { spec: { minHealthy: '2%' } }
      const { body } = await admin<Loose>('PATCH', path, edit, 'application/merge-patch+json')
      return body.spec?.minHealthy !== edit.spec.minHealthy && body.kind !== 'Status'
    })
    const wanted = (await read(HEALTH_CHECK)).spec.minHealthy
    const said = await kubectl([...EDIT, '{"spec":{"minHealthy":"3%"}}'])
    t.match(said, { code: 0, stderr: /^Warning: / }, said.stderr)
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, wanted)
    const { uid } = (await read(METALLB)).metadata
    await admin('DELETE', METALLB)
    await until('what is deleted comes back', async () => {
      const found = await read(METALLB)
      return found && found.metadata.uid !== uid
    })
  })

  await t.test('has all the rights that it needs', (t) => {
    const refused = audited(cluster).filter(({ responseStatus }) => responseStatus?.code === 403)
    t.same(refused.map(asLine), [])
    t.ok(audited(cluster).length > 50)
    t.end()
  })

  await t.test('keeps its certificates over an upgrade and a rollback', async (t) => {
    const before = await secrets()
    t.ok(before.length >= 2)
    await helm('upgrade', WAIT, { ...values, logLevel: 'debug' })
    t.ok(
      (await deployment('webhook')).spec.template.spec.containers[0].args.includes(
        '--log-level=debug',
      ),
    )
    t.same(await secrets(), before)
    await helm('rollback', WAIT)
    t.ok(
      (await deployment('webhook')).spec.template.spec.containers[0].args.includes(
        '--log-level=info',
      ),
    )
    t.same(await secrets(), before)
  })

  await t.test('goes without a trace in the platform', async (t) => {
    const hooks = objectsIn(await helm('get hooks'))
    const job = hooks.find(({ kind }) => kind === 'Job')
    const child = await runPod(job)
    await until('it ends', async () => !child.isRunning())
    t.equal(await child.ended, 'exit code 0', child.output())
    t.same([await read(MUTATING), await read(VALIDATING)], [undefined, undefined])
    const kept = await Promise.all([HCO, PCI, HEALTH_CHECK].map(read))
    await helm('uninstall', WAIT)
    for (const name of PROCESSES) t.equal(await deployment(name), undefined)
    const after = await Promise.all([HCO, PCI, HEALTH_CHECK].map(read))
    t.same(
      after.map((object) => object?.spec),
      kept.map((object) => object?.spec),
    )
  })
})
