import t from 'tap'

import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { HCO, HYPERCONVERGED } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const PREFIX = 'platform.kubevirt.io'
const LIMIT = '/spec/virtualization/liveMigrationConfig/bandwidthPerMigration'

t.test('what nobody asks for any more goes, whoever stored it', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=500ms'] })
  const { admin, read, untilCompared } = cluster
  const alice = cluster.person('alice')
  const succeeds = async (args: readonly string[]) => {
    const said = await alice(args)
    if (said.code !== 0) throw new Error(said.stderr)
    return said
  }
  const annotate = (...texts: readonly string[]) =>
    succeeds([
      'annotate',
      ...HYPERCONVERGED,
      '--overwrite',
      ...texts.map((text) => `${PREFIX}/${text}`),
    ])
  const merge = (patch: object, ...flags: readonly string[]) =>
    succeeds([
      'patch',
      ...HYPERCONVERGED,
      '--type=merge',
      `--patch=${JSON.stringify(patch)}`,
      ...flags,
    ])
  const spec = async () => (await read(HCO)).spec.virtualization
  const devices = async () => (await spec()).permittedHostDevices?.usbHostDevices ?? []
  const ours = async () => {
    const { managedFields } = (await read(HCO)).metadata
    const entry = managedFields.find(
      ({ manager }: { manager: string }) => manager === 'virt-platform-autopilot',
    )
    return JSON.stringify(entry.fieldsV1)
  }

  await t.test('what a patch had added and the webhook stored', async (t) => {
    const operation = { op: 'add', path: LIMIT, value: '64Mi' }
    await annotate(`patch=${JSON.stringify([operation])}`)
    t.equal((await spec()).liveMigrationConfig.bandwidthPerMigration, '64Mi', 'stored at once')
    await until('it is ours', async () => (await ours()).includes('f:bandwidthPerMigration'))
    await annotate('patch-')
    await until(
      'it is gone',
      async () => (await spec()).liveMigrationConfig.bandwidthPerMigration === undefined,
    )
  })

  await t.test('a device, with the list of its devices in one write', async (t) => {
    await annotate('usb-devices=046d:0825')
    await until('it is permitted', async () => (await devices()).length === 1)
    await until('it is ours', async () => (await ours()).includes('usbHostDevices'))
    const { stderr } = await merge({
      metadata: { annotations: { [`${PREFIX}/usb-devices`]: null } },
      spec: { virtualization: { permittedHostDevices: null } },
    })
    t.notMatch(stderr, 'kept at')
    t.same(await devices(), [])
  })

  await t.test('a device that was put back before', async (t) => {
    await annotate('usb-devices=046d:0825,1a6e:089a')
    await until('both are permitted', async () => (await devices()).length === 2)
    const none = { spec: { virtualization: { permittedHostDevices: null } } }
    // The webhook hears of the section from the leader.
    await until('the webhook keeps them', async () =>
      (await merge(none, '--dry-run=server')).stderr.includes('kept at'),
    )
    const { stderr } = await merge(none)
    t.match(stderr, 'kept at')
    t.equal((await devices()).length, 2)
    await until('they are ours again', async () => (await ours()).includes('usb-1a6e-089a'))
    await annotate('usb-devices=046d:0825')
    await until('one is left', async () => (await devices()).length === 1)
    await annotate('usb-devices-')
    await until('none is left', async () => (await devices()).length === 0)
  })

  await t.test('a device that an unmanaged object never had', async (t) => {
    await annotate('mode=unmanaged', 'usb-devices=046d:0825')
    t.same(await devices(), [])
    const { stderr } = await annotate('mode-', 'usb-devices-')
    t.notMatch(stderr, 'set to')
    t.same(await devices(), [])
  })

  await t.test(
    'no quota: an AAQ of whomever stays, and keeps that of the HyperConverged away',
    async (t) => {
      const aaqs = '/apis/aaq.kubevirt.io/v1alpha1/aaqs'
      const metadata = {
        name: 'aaq',
        labels: { [`${PREFIX}/managed-by`]: 'virt-platform-autopilot' },
      }
      const earlier = { apiVersion: 'aaq.kubevirt.io/v1alpha1', kind: 'AAQ', metadata, spec: {} }
      t.equal((await admin('POST', aaqs, earlier)).status, 201)
      const isOn = async () => (await read(HCO)).spec.deployment.applicationAwareConfig?.enable
      const asked = ['annotate', ...HYPERCONVERGED, `${PREFIX}/enable-aaq=true`]
      await until('the webhook has heard of it from the leader', async () => {
        const { stderr } = await succeeds([...asked, '--dry-run=server'])
        return !stderr.includes('applicationAwareConfig')
      })
      await succeeds(asked)
      await cluster.untilEvent(
        'AssetSkipped',
        /application-aware-quota waits until there is no AAQ but/,
      )
      t.not(await isOn(), true)
      t.ok(await read(`${aaqs}/aaq`), 'it was one of ours, and is let go')
      await succeeds(['delete', 'aaq', 'aaq'])
      await until('the HyperConverged has its own', async () => (await isOn()) === true)
      const own = { ...earlier, metadata: { name: 'aaq-kubevirt-hyperconverged' } }
      t.equal((await admin('POST', aaqs, own)).status, 201)
      const { stderr } = await merge({
        spec: { deployment: { applicationAwareConfig: { enable: false } } },
      })
      t.match(stderr, 'kept at')
      t.equal(await isOn(), true)
      const ending = ['annotate', ...HYPERCONVERGED, `${PREFIX}/enable-aaq-`, '--dry-run=server']
      const told = await succeeds(ending)
      t.match(told.stderr, 'deletes its AAQ for this, and every quota with it')
      const [, field = ''] = /To keep them.*(ignore-fields=\S+)/.exec(told.stderr) ?? []
      await annotate(field)
      t.notMatch((await annotate('enable-aaq-')).stderr, 'AAQ')
      await untilCompared('kubevirt-hyperconverged')
      t.equal(await isOn(), true, 'whoever takes the field over keeps the quotas')
      await annotate('ignore-fields-')
    },
  )

  await t.test('incidents on the console, with the map that only they were in', async (t) => {
    const monitoring = async () =>
      (await read('/apis/observability.openshift.io/v1alpha1/uiplugins/monitoring'))?.spec
        .monitoring
    const enabled = { enabled: true }
    await annotate('enable-incident-detection=true')
    await until('they are on', async () => (await monitoring())?.clusterHealthAnalyzer)
    t.same(await monitoring(), { perses: enabled, clusterHealthAnalyzer: enabled })
    await annotate('enable-incident-detection-')
    await until('they are off', async () => !(await monitoring()).clusterHealthAnalyzer)
    t.same(await monitoring(), { perses: enabled })
  })

  await t.test('a PCI device that the admin permits under another name is his', async (t) => {
    const permitted = async () => (await spec()).permittedHostDevices?.pciHostDevices ?? []
    const setPermitted = (pciHostDevices: readonly object[] | null) =>
      merge({ spec: { virtualization: { permittedHostDevices: { pciHostDevices } } } })
    const own = { pciDeviceSelector: '10de:1eb8', resourceName: 'kubevirt.io/pci-10de-1eb8' }
    const theirs = { pciDeviceSelector: '10DE:1EB8', resourceName: 'nvidia.com/TU104GL_Tesla_T4' }
    await annotate('vfio-device-ids=10de:1eb8')
    await until('it is permitted', async () => (await permitted()).length === 1)
    t.match(await permitted(), [own])
    await until('it is ours', async () => (await ours()).includes('pciHostDevices'))

    await setPermitted([own, theirs])
    await until('ours gives way', async () => !(await ours()).includes('pciHostDevices'))
    await untilCompared('kubevirt-hyperconverged')
    t.match(await permitted(), [theirs])
    t.equal((await permitted()).length, 1)

    await setPermitted(null)
    await until('without his it is back', async () => (await permitted()).length === 1)
    t.match(await permitted(), [own])
    await annotate('vfio-device-ids-')
    await until('none is left', async () => (await permitted()).length === 0)
  })
})
