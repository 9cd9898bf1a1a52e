import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { statusOf } from '../../../src/shared/baseline/asset-status.ts'
import { readSettings } from '../../../src/shared/baseline/settings/settings.ts'
import { factsWith } from '../../unit/baseline/facts.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HYPERCONVERGED, PCI, STATE, SWAP } from '../harness/objects.ts'
import { type CatalogText, ownProgram, programWith } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const MCO = '/apis/machineconfiguration.openshift.io/v1/machineconfigs'
const POLICIES = '/apis/operator.openshift.io/v1/machineconfigurations'
const CONF = 'active/swap-enable/90-swap.conf'
const CONF_PATH = '/etc/openshift/kubelet.conf.d/90-swap.conf'
const POOL = ['machineconfigpool', 'worker']
const POOLS = '/apis/machineconfiguration.openshift.io/v1/machineconfigpools'
const INFRA = {
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigPool',
  metadata: { name: 'infra' },
  spec: {
    paused: true,
    machineConfigSelector: {
      matchExpressions: [
        {
          key: 'machineconfiguration.openshift.io/role',
          operator: 'In',
          values: ['worker', 'infra'],
        },
      ],
    },
  },
}

/** Stands in for OpenShift's own: only what it says of node disruption policies is looked at. */
const MACHINE_CONFIGURATIONS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'machineconfigurations.operator.openshift.io' },
  spec: {
    group: 'operator.openshift.io',
    scope: 'Cluster',
    names: { kind: 'MachineConfiguration', plural: 'machineconfigurations' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

t.test('changes of MachineConfigs, by what they do to nodes', async (t) => {
  const conf = readFileSync(join(import.meta.dirname, '../../../assets', CONF), 'utf8')
  const keep = (catalog: CatalogText) => catalog
  const changed = (text: string) => programWith(t, { change: keep, files: { [CONF]: text } })
  const cluster = await autopilotCluster(t, {
    isEarly: true,
    only: ({ kind }) => kind !== 'HyperConverged',
    reconcilerFlags: ['--disruptive-changes=hold', '--resync=500ms'],
  })
  const { admin, read, restart, untilEvent, untilCompared, metric } = cluster
  const alice = cluster.person('alice')
  const pending = () => metric('reconciler', 'virt_platform_pending_disruption')
  const approve = async (digest: string) =>
    t.match(
      await alice([
        'annotate',
        ...HYPERCONVERGED,
        '--overwrite',
        `platform.kubevirt.io/approve${digest}`,
      ]),
      { code: 0 },
    )
  /** The digest that was told last. */
  const told = () => {
    const lines = cluster.log('reconciler').split('\n')
    const last = lines.findLast((line) => line.includes('wait for approval'))
    return JSON.parse(last ?? '{}').digest
  }
  /** What a change was told to wait for last. */
  const waitsFor = (asset: string) => {
    const lines = cluster.log('reconciler').split('\n')
    const isAbout = (line: string) =>
      line.includes(`"asset":"${asset}"`) && line.includes('change not made')
    return JSON.parse(lines.findLast(isAbout) ?? '{}').reason
  }
  const fileIn = (object: Loose, path: string) =>
    object.spec.config.storage.files.find((file: Loose) => file.path === path)
  const textOf = (object: Loose) =>
    Buffer.from(fileIn(object, CONF_PATH).contents.source.split(',')[1], 'base64').toString()
  const applied = async (name: string) => JSON.parse((await read(STATE)).data['applied.json'])[name]

  await t.test(
    'what another tool has put there in other bytes is taken over as it is, unasked',
    async (t) => {
      // The very object, as another tool would have made it: one payload compressed, one spelt in percents.
      const theirs = baselineOf('swap-enable')
      const [first, second] = theirs.spec.config.storage.files
      const plain = (file: Loose) => Buffer.from(file.contents.source.split(',')[1], 'base64')
      first.contents = { source: `data:,${encodeURIComponent(plain(first).toString())}` }
      second.contents = {
        compression: 'gzip',
        source: `data:;base64,${gzipSync(plain(second)).toString('base64')}`,
      }
      delete theirs.metadata.labels['platform.kubevirt.io/managed-by']
      t.equal((await admin('POST', MCO, theirs)).status, 201)
      await cluster.install(({ kind }) => kind === 'HyperConverged')
      const ours = await until('it bears our label', async () => {
        const object = await read(SWAP)
        return object.metadata.labels['platform.kubevirt.io/managed-by'] && object
      })
      t.same(ours.spec, theirs.spec, 'and no node has anything to do')
      await until('it is in force', () => applied('swap-enable'))
      const { note } = await untilEvent('DisruptionPending', /50-virt-pci-passthrough reboots/)
      t.notMatch(note, /90-worker-swap-online/)
    },
  )

  await t.test('the pending set says why, and an approval outlives its leader', async (t) => {
    await untilEvent(
      'DisruptionPending',
      /50-virt-pci-passthrough reboots 3 nodes of pool worker \(kernel argument .* added/,
    )
    t.match(await alice(['patch', ...POOL, '--type=merge', '-p{"spec":{"paused":true}}']), {
      code: 0,
    })
    await until('the set is complete', async () => (await pending()) === 2)
    await untilCompared('50-virt-pci-passthrough')
    await approve(`=${told()}`)
    await until('it waits for its pool', async () => waitsFor('pci-passthrough') === 'PoolBusy')
    t.equal(await read(PCI), undefined)
    await restart('reconciler')
    await untilCompared('50-virt-pci-passthrough')
    t.equal(waitsFor('pci-passthrough'), 'PoolBusy')

    // A custom pool takes what is meant for workers.
    t.equal((await admin('POST', POOLS, INFRA)).status, 201)
    await untilEvent('DisruptionPending', /waits until pools worker and infra are neither/)
    t.match(await alice(['patch', ...POOL, '--type=merge', '-p{"spec":{"paused":false}}']), {
      code: 0,
    })
    await untilEvent('DisruptionPending', /waits until pool infra is neither/)
    t.equal(await read(PCI), undefined)
    t.equal((await admin('DELETE', `${POOLS}/infra`)).status, 200)
    await until('it is made', () => read(PCI))
  })

  await t.test('a changed file reboots, unless the cluster says that it does not', async (t) => {
    const first = await read(SWAP)
    await restart('reconciler', { program: changed(`${conf}# once\n`) })
    const { note } = await untilEvent('DisruptionPending', /90-worker-swap-online reboots/)
    t.match(
      note,
      /90-worker-swap-online reboots 3 nodes of pool worker \(file \/etc\/openshift\/kubelet\.conf\.d\/90-swap\.conf .*changed/,
    )
    t.equal((await read(SWAP)).metadata.resourceVersion, first.metadata.resourceVersion)

    await admin(
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      MACHINE_CONFIGURATIONS,
    )
    const policies = {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'MachineConfiguration',
      metadata: { name: 'cluster' },
      spec: {},
    }
    const created = await until('it is served', async () => {
      const { status, body } = await admin<Loose>('POST', POLICIES, policies)
      return status === 201 && body
    })
    const files = [{ path: CONF_PATH, actions: [{ type: 'None' }] }]
    const status = {
      observedGeneration: created.metadata.generation,
      nodeDisruptionPolicyStatus: { clusterPolicies: { files } },
    }
    const stated = await admin('PUT', `${POLICIES}/cluster/status`, { ...created, status })
    t.equal(stated.status, 200)
    const written = await until('it is written', async () => {
      const object = await read(SWAP)
      return textOf(object).endsWith('# once\n') && object
    })
    t.equal(
      fileIn(written, '/usr/local/bin/kubevirt-tune-watermarks.py').contents.compression,
      'gzip',
      'the other bytes stay',
    )
    await until('nothing waits', async () => (await pending()) === 0)
  })

  await t.test('an approval that is taken back is none', async (t) => {
    await restart('reconciler', { program: changed(`# a\n${conf}`) })
    await until('it is written', async () => textOf(await read(SWAP)).includes('# a\n'))
    await admin('DELETE', `${POLICIES}/cluster`)
    await restart('reconciler', { program: changed(`${conf}# twice\n`) })
    await until('it waits', async () => (await pending()) > 0)
    await untilEvent('DisruptionPending', /90-swap\.conf.*changed/)
    await untilCompared('90-worker-swap-online')
    const { digest } = await until('it is told', async () => {
      const lines = cluster
        .log('reconciler')
        .split('\n')
        .filter((line) => line.includes('wait for approval'))
      return JSON.parse(lines.at(-1) ?? '{}')
    })
    t.match(await alice(['patch', ...POOL, '--type=merge', '-p{"spec":{"paused":true}}']), {
      code: 0,
    })
    // Pools and the HyperConverged are watched apart: an approval that is heard of first would be acted on.
    await untilCompared('90-worker-swap-online')
    await approve(`=${digest}`)
    await until('it waits for its pool', async () => waitsFor('swap-enable') === 'PoolBusy')
    await approve('-')
    await until('it waits for approval again', async () => waitsFor('swap-enable') === 'Held')
    t.match(await alice(['patch', ...POOL, '--type=merge', '-p{"spec":{"paused":false}}']), {
      code: 0,
    })
    await untilCompared('90-worker-swap-online')
    t.notMatch(textOf(await read(SWAP)), /# twice/)
    t.equal((await read(HCO)).metadata.annotations?.['platform.kubevirt.io/approve'], undefined)
  })

  await t.test('the same facts give the same bytes on every run', async (t) => {
    await restart('reconciler', { program: changed(`${conf}# twice\n`) })
    const seen = async () => {
      await untilCompared('90-worker-swap-online')
      const { 'baselines.json': baselines, 'facts.json': facts } = (await read(STATE)).data
      return { baselines, facts }
    }
    const before = await seen()
    await restart('reconciler')
    t.same(await seen(), before)
  })
})

/** An object as the catalog renders it on any cluster. */
function baselineOf(name: string): Loose {
  const asset = ownProgram().catalog.find((known) => known.name === name)
  const status = asset && statusOf(asset, factsWith({}), readSettings({}).settings, String)
  if (status?.kind !== 'active') throw new Error(`${name} is not active`)
  return structuredClone(status.baseline)
}
