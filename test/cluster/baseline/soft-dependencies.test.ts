import { join } from 'node:path'
import t from 'tap'
import { loadDefinitions } from '../../../tools/control-plane/definitions.ts'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { DESCHEDULER, HCO, HEALTH_CHECK, METALLB } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const METALLB_CRD = 'metallbs.metallb.io'
const DESCHEDULER_CRD = 'kubedeschedulers.operator.openshift.io'
const TEMPLATE_CRD = 'selfnoderemediationtemplates.self-node-remediation.medik8s.io'
const PREFIX = 'platform.kubevirt.io'
const MERGE_PATCH = 'application/merge-patch+json'
const MISSING = 'virt_platform_missing_dependency'

const named = (name: string) => (manifest: Manifest) => manifest.metadata.name === name
const definitions: readonly Loose[] = loadDefinitions(join(import.meta.dirname, '../../crds'))
const definition = (name: string): Loose => definitions.find(named(name))
/** The definition with versions of these names, all alike. */
const serving = (name: string, ...versions: readonly string[]) => {
  const { spec, ...rest } = definition(name)
  const [version] = spec.versions
  const alike = versions.map((v, index) => ({ ...version, name: v, storage: index === 0 }))
  return { ...rest, spec: { ...spec, versions: alike } }
}
/** A definition that takes a name which this one needs. */
const rivalOf = (name: string) => {
  const { apiVersion, kind, spec } = definition(name)
  const { singular } = spec.names
  const names = { singular, plural: 'rivals', kind: 'Rival', listKind: 'RivalList' }
  return { apiVersion, kind, metadata: { name: `rivals.${spec.group}` }, spec: { ...spec, names } }
}

t.test('soft dependencies', async (t) => {
  const LATER = [METALLB_CRD, 'metallb-system', DESCHEDULER_CRD]
  const cluster = await autopilotCluster(t, {
    only: ({ metadata }) => !LATER.includes(metadata.name),
    isOwn: true,
    reconcilerFlags: ['--resync=500ms'],
  })
  const { read, admin, install, metric, untilCompared, untilEvent, events } = cluster
  const { pid } = cluster.autopilot.reconciler.child()
  const accepted = async (method: string, path: string, body?: object, type?: string) => {
    const answer = await admin<Loose>(method, path, body, type)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const annotate = (annotations: Readonly<Record<string, string | null>>) => {
    const prefixed = Object.entries(annotations).map(([key, text]) => [`${PREFIX}/${key}`, text])
    const patch = { metadata: { annotations: Object.fromEntries(prefixed) } }
    return accepted('PATCH', HCO, patch, MERGE_PATCH)
  }
  const untilCondition = (name: string, type: string, wanted: string) =>
    until(`${name} has ${type}: ${wanted}`, async () => {
      const { status } = await accepted('GET', `${CRDS}/${name}`)
      const found = status?.conditions?.find((condition: Loose) => condition.type === type)
      return found?.status === wanted
    })
  const missed = (kind: string) => metric('reconciler', MISSING, `kind="${kind}"`)
  const about = async (reason: string, asset: string) =>
    (await events(reason)).filter(({ note }) => note.startsWith(`${asset}: `)).length
  // The event is sent when the metric is set, and takes its time.
  const untilTold = (asset: string, times: number) =>
    until(`${asset} is told to be missed`, async () => (await about('CRDMissing', asset)) >= times)
  const complies = (name: string) =>
    metric('reconciler', 'virt_platform_compliance_status', `name="${name}"`)

  await t.test(
    'what nobody asked for is not missed, in no version and in another one',
    async (t) => {
      await untilCompared('metallb')
      await accepted('POST', CRDS, serving(METALLB_CRD, 'v1beta2'))
      await untilCondition(METALLB_CRD, 'Established', 'True')
      await untilCompared('metallb')
      t.equal(await metric('reconciler', MISSING), 0)
      t.same(await events('CRDMissing'), [])
    },
  )

  await t.test('a version that is missing and was asked for by name is told, once', async (t) => {
    await annotate({ autopilot: 'hco,network,remediation' })
    const { regarding, note } = await untilEvent('CRDMissing', /^metallb: /)
    t.equal(regarding.name, 'kubevirt-hyperconverged')
    t.equal(note, 'metallb: the API metallb.io/v1beta1 MetalLB is not served')
    await untilCompared('metallb')
    t.equal(await about('CRDMissing', 'metallb'), 1)
    t.equal(await missed('MetalLB'), 1)
    t.equal(await metric('reconciler', MISSING, 'group="metallb.io",version="v1beta1"'), 1)
  })

  await t.test(
    'a version that begins to be served starts its asset, namespace permitting',
    async (t) => {
      const { resourceVersion } = (await accepted('GET', `${CRDS}/${METALLB_CRD}`)).metadata
      const both = serving(METALLB_CRD, 'v1beta2', 'v1beta1')
      const metadata = { ...both.metadata, resourceVersion }
      await accepted('PUT', `${CRDS}/${METALLB_CRD}`, { ...both, metadata })
      await untilEvent('AssetSkipped', /^metallb: namespace metallb-system does not exist$/)
      await until('no API is missed', async () => (await missed('MetalLB')) === 0)
      await untilCompared('metallb')
      t.equal(await about('AssetSkipped', 'metallb'), 1)

      await install(named('metallb-system'))
      await until('the asset is there', () => read(METALLB))
      await until('it complies', async () => (await complies('metallb')) === 1)
      await annotate({ autopilot: null })
    },
  )

  await t.test(
    'a definition that is not established yet serves nothing, and then does',
    async (t) => {
      await annotate({ 'enable-loadaware': 'true' })
      await untilEvent('CRDMissing', /^descheduler-loadaware: /)
      const rival = rivalOf(DESCHEDULER_CRD)
      await accepted('POST', CRDS, rival)
      await untilCondition(rival.metadata.name, 'Established', 'True')
      await accepted('POST', CRDS, definition(DESCHEDULER_CRD))
      await untilCondition(DESCHEDULER_CRD, 'NamesAccepted', 'False')
      await untilCompared('cluster')
      t.equal(await missed('KubeDescheduler'), 1)

      await accepted('DELETE', `${CRDS}/${rival.metadata.name}`)
      await until('the asset is there', () => read(DESCHEDULER))
      await until('nothing is missed', async () => (await missed('KubeDescheduler')) === 0)
      t.equal(await about('CRDMissing', 'descheduler-loadaware'), 1)
    },
  )

  await t.test(
    'a definition that goes away is missed where it was asked for, until it is back',
    async (t) => {
      await accepted('DELETE', `${CRDS}/${DESCHEDULER_CRD}`)
      await until('it is missed', async () => (await missed('KubeDescheduler')) === 1)
      await untilTold('descheduler-loadaware', 2)
      await untilCompared('cluster')
      t.equal(await about('CRDMissing', 'descheduler-loadaware'), 2)
      t.equal(await complies('cluster'), 0)

      await accepted('DELETE', `${CRDS}/${METALLB_CRD}`)
      await until('the other is not kept', async () => (await complies('metallb')) === 0)
      await untilCompared('metallb')
      t.equal(await missed('MetalLB'), 0, 'nobody asked for it any more')
      t.equal(await about('CRDMissing', 'metallb'), 1)

      await install(({ metadata }) => [DESCHEDULER_CRD, METALLB_CRD].includes(metadata.name))
      await until(
        'both assets are back',
        async () => (await read(DESCHEDULER)) && (await read(METALLB)),
      )
      await until('nothing is missed', async () => (await metric('reconciler', MISSING)) === 0)
    },
  )

  await t.test('an opt-in that is taken back is missed no more', async (t) => {
    await accepted('DELETE', `${CRDS}/${DESCHEDULER_CRD}`)
    await until('it is missed', async () => (await missed('KubeDescheduler')) === 1)
    await untilTold('descheduler-loadaware', 3)
    await annotate({ 'enable-loadaware': null })
    await until('it is missed no more', async () => (await missed('KubeDescheduler')) === 0)
    t.equal(await about('CRDMissing', 'descheduler-loadaware'), 3)
  })

  await t.test('an API that is a condition is no alarm, and its asset follows it', async (t) => {
    const told = (await events('CRDMissing')).length
    await accepted('DELETE', `${CRDS}/${TEMPLATE_CRD}`)
    await until(
      'the asset is not kept',
      async () => (await complies('virt-node-health-check')) === 0,
    )
    await until('its object is deleted', async () => !(await read(HEALTH_CHECK)))
    await untilCompared('virt-node-health-check')
    t.equal((await events('CRDMissing')).length, told)
    // With its definition the template went, too.
    await install(named(TEMPLATE_CRD))
    await install(({ kind }) => kind === 'SelfNodeRemediationTemplate')
    await until('it is kept again', () => read(HEALTH_CHECK))
    t.equal(cluster.autopilot.reconciler.child().pid, pid, 'all that without a restart')
  })
})
