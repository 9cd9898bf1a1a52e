import t from 'tap'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, STATE } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const MERGE = 'application/merge-patch+json'
const AUTOPILOT = 'platform.kubevirt.io/autopilot'
const NAMESPACE = 'openshift-cnv'
const ELSEWHERE = 'kubevirt-hyperconverged'
const OTHER = 'virt-platform-autopilot'

t.test('beside another autopilot that obeys the same annotation', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=500ms'] })
  const { admin, read, metric, isJudged, untilCompared, untilEvent } = cluster
  const alice = cluster.person('alice')
  const kubectl = async (...args: readonly string[]) => {
    const said = await alice(args)
    if (said.code !== 0) throw new Error(said.stderr)
    return said.stderr
  }
  const install = (namespace = NAMESPACE) =>
    kubectl('create', 'deployment', '-n', namespace, OTHER, '--image=other')
  const remove = () => kubectl('delete', 'deployment', '-n', NAMESPACE, OTHER)
  const scale = (replicas: number) =>
    kubectl('scale', 'deployment', '-n', NAMESPACE, OTHER, `--replicas=${replicas}`)
  const annotate = (text: string) =>
    kubectl('annotate', ...HYPERCONVERGED, '--overwrite', `${AUTOPILOT}${text}`)
  const published = async () => JSON.parse((await read(STATE)).data['otherAutopilot.json'])
  const standingBy = () => metric('reconciler', 'virt_platform_standing_by', 'OtherAutopilot')

  const minHealthy = async (): Promise<unknown> => (await read(HEALTH_CHECK)).spec.minHealthy
  const kept = await minHealthy()
  /** An edit that the webhook lets pass; one that it puts back is none. */
  const edit = async () => {
    await admin('PATCH', HEALTH_CHECK, { spec: { minHealthy: '2%' } }, MERGE)
    return minHealthy()
  }
  const untilStandsBy = async () => {
    await until('the gauge says so', async () => (await standingBy()) === 1)
    await until('the webhook lets an edit pass', async () => !(await isJudged()))
  }
  const untilKept = async () => {
    await until('it is healed', async () => (await minHealthy()) === kept)
    await until('the webhook puts an edit back', isJudged)
    t.equal(await standingBy(), 0)
  }
  const mustStay = async () => {
    t.equal(await edit(), '2%')
    await untilCompared('virt-node-health-check')
    t.equal(await minHealthy(), '2%', 'nobody puts it back')
  }

  await t.test('which is idle, everything is kept', async (t) => {
    await install()
    await until('it is seen', async () => (await published()) === 'idle')
    t.equal(await edit(), kept)
    await cluster.withoutWebhook(edit)
    await untilKept()
    t.same(await cluster.events('OtherAutopilot'), [])
  })

  await t.test('somebody who wakes it is told, and nothing is kept', async (t) => {
    const warnings = await annotate('=true')
    t.match(warnings, 'Deployment openshift-cnv/virt-platform-autopilot is another autopilot')
    t.match(warnings, `${HYPERCONVERGED.join(' ')} ${AUTOPILOT}-`)
    await untilStandsBy()
    t.equal(await published(), 'active')
    await mustStay()
    t.equal(
      await metric('reconciler', 'virt_platform_compliance_status', 'virt-node-health-check'),
      0,
      'it is compared',
    )
  })

  await t.test('nor by the next leader', async (t) => {
    await cluster.restart('reconciler')
    await untilStandsBy()
    await untilCompared('virt-node-health-check')
    t.equal(await minHealthy(), '2%')
  })

  await t.test('until it is put to sleep, as the event says', async (t) => {
    const { note, regarding } = await untilEvent('OtherAutopilot', /: kubectl annotate /)
    t.equal(regarding.name, 'kubevirt-hyperconverged')
    t.match(note, 'OLM restores it')
    t.match(note, 'platform.kubevirt.io/disabled-resources')
    t.match(await alice.shell(note.slice(note.indexOf('kubectl'))), { code: 0 })
    await untilKept()
    t.equal(await published(), 'idle')
  })

  await t.test('one that comes while the annotation is there is given way to', async (t) => {
    await remove()
    await until('it is gone', async () => (await published()) === 'absent')
    t.notMatch(await annotate('=true'), 'another autopilot')
    t.equal(await edit(), kept)
    await install()
    await untilStandsBy()
    await mustStay()
  })

  await t.test('scaled to nothing, it is as good as gone', async () => {
    await scale(0)
    await untilKept()
    await scale(1)
    await untilStandsBy()
    await mustStay()
  })

  await t.test('when it is deleted, all goes on', async () => {
    await remove()
    await untilKept()
  })

  await t.test('only the one beside the HyperConverged counts, wherever that is', async (t) => {
    await install()
    await untilStandsBy()
    const hco: Loose = await read(HCO)
    await kubectl('delete', ...HYPERCONVERGED)
    await kubectl('create', 'namespace', ELSEWHERE)
    const metadata = {
      name: hco.metadata.name,
      namespace: ELSEWHERE,
      annotations: { [AUTOPILOT]: 'true' },
    }
    const path = HCO.replace(NAMESPACE, ELSEWHERE).replace(/\/[^/]*$/, '')
    const { apiVersion, kind, spec } = hco
    const { status } = await admin('POST', path, { apiVersion, kind, metadata, spec })
    t.equal(status, 201)
    await untilKept()
    await install(ELSEWHERE)
    await untilStandsBy()
    await mustStay()
  })
})
