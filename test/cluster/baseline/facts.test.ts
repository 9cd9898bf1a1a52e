import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { conditionsOf, kindKey } from '../../../src/shared/baseline/catalog/catalog.ts'
import { install } from '../../../tools/control-plane/install.ts'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { STATE } from '../harness/objects.ts'
import { ownProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/nodes')
const CONFIG = '/apis/config.openshift.io/v1'

/** The objects of a file of samples: nodes, and what says how their cluster is shaped. */
const sample = (file: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(join(FOLDER, `${file}.yaml`), 'utf8')).map((document) =>
    document.toJS(),
  )
const infrastructure = (type: string, controlPlaneTopology: string): Manifest => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  spec: { platformSpec: { type } },
  status: {
    platform: type,
    platformStatus: { type },
    controlPlaneTopology,
    infrastructureTopology: 'HighlyAvailable',
  },
})

const PCI = 'pciDevicesPresent'
const AMD64 = 'amd64PciDevicesOnWorkers'
const MASTER = 'amd64PciDevicesOnMasters'
const NUMA = 'numaNodesPresent'
const GPU = 'gpuPresent'

/** What the samples of other operators' objects, which stay, are read as. */
const OF_OPERATORS = ['kubeletDropIns', 'masterKubeletDropIns', 'remediationTemplate']

interface Shape {
  readonly what: string
  readonly objects: readonly Manifest[]
  readonly hardware?: readonly string[]
  readonly topology?: readonly string[]
  readonly provider?: string
}

const shapes: readonly Shape[] = [
  {
    what: 'one OpenShift node with every role',
    objects: sample('cluster-sno'),
    hardware: [PCI, MASTER, NUMA],
    topology: ['singleNode', 'schedulableMasters'],
    provider: 'none',
  },
  {
    what: 'three schedulable masters',
    objects: sample('cluster-compact'),
    hardware: [PCI, MASTER, NUMA],
    topology: ['compact', 'schedulableMasters'],
    provider: 'baremetal',
  },
  {
    what: 'three masters and unlike workers',
    objects: sample('cluster-heterogeneous'),
    hardware: [PCI, AMD64, NUMA, GPU],
    provider: 'baremetal',
  },
  {
    what: 'an arm64 worker whose NIC can be split',
    objects: sample('cluster-heterogeneous').filter(
      ({ metadata }) => metadata.name === 'worker-arm-0',
    ),
    hardware: [PCI],
    topology: ['singleNode'],
  },
  {
    what: 'a worker whose GPUs are for virtual machines',
    objects: sample('worker-baremetal-gpu'),
    hardware: [PCI, AMD64, NUMA, GPU],
    topology: ['singleNode'],
  },
  {
    what: 'a worker that is a virtual machine',
    objects: [infrastructure('VSphere', 'HighlyAvailable'), ...sample('worker-virtual')],
    provider: 'vsphere',
  },
  {
    what: 'a worker without Node Feature Discovery',
    objects: sample('worker-no-nfd'),
    topology: ['singleNode'],
  },
  { what: 'a master alone', objects: sample('master'), topology: ['singleNode'] },
  {
    what: 'workers of a hosted control plane',
    objects: [
      infrastructure('AWS', 'External'),
      ...sample('worker-virtual'),
      ...sample('worker-no-nfd'),
    ],
    topology: ['hostedControlPlane'],
    provider: 'aws',
  },
]

const trueOf = (flags: Loose) => Object.keys(flags).filter((name) => flags[name] === true)

t.test('facts', async (t) => {
  const isShape = ({ kind }: Manifest) => ['Node', 'Infrastructure', 'Scheduler'].includes(kind)
  const cluster = await autopilotCluster(t, {
    isEarly: true,
    only: (manifest) => !isShape(manifest),
  })
  const { read, admin, restart, metric } = cluster
  const facts = async (): Promise<Loose> => {
    const state = await read(STATE)
    return state && JSON.parse(state.data['facts.json'])
  }
  /** A cluster of which nothing was ever known: hardware is believed in for longer than it is there. */
  const startAnew = (objects: readonly Manifest[]) =>
    restart('reconciler', {
      async meanwhile() {
        const kept = [`${CONFIG}/infrastructures/cluster`, `${CONFIG}/schedulers/cluster`, STATE]
        for (const path of kept) await admin('DELETE', path)
        await admin('DELETE', '/api/v1/nodes')
        await install(cluster, objects)
      },
    })

  for (const { what, objects, hardware = [], topology = [], provider = '' } of shapes) {
    await t.test(`of ${what}`, async (t) => {
      await startAnew(objects)
      const found = await until('facts are published', facts)
      t.same(trueOf(found.hardware).sort(), [...hardware].sort())
      t.same(trueOf(found.topology).sort(), [...OF_OPERATORS, ...topology].sort())
      t.equal(found.topology.provider, provider)
    })
  }

  await t.test('of hardware that comes, at once', async (t) => {
    t.same(trueOf((await facts()).hardware), [])
    await install(cluster, sample('worker-baremetal-gpu'))
    const found = await until('it is seen', async () => {
      const { hardware } = await facts()
      return hardware.gpuPresent && hardware
    })
    t.same(trueOf(found).sort(), [PCI, AMD64, NUMA, GPU].sort())
  })

  await t.test('of masters that begin to take work, at once', async (t) => {
    const scheduler = {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Scheduler',
      metadata: { name: 'cluster' },
      spec: { mastersSchedulable: true },
    }
    await install(cluster, [scheduler])
    await until('it is seen', async () => (await facts()).topology.schedulableMasters === true)
    await admin('DELETE', `${CONFIG}/schedulers/cluster`)
    await until('and so is its end', async () => !(await facts()).topology.schedulableMasters)
    t.equal(await metric('reconciler', 'virt_platform_leader'), 1)
  })

  await t.test('of a cluster network that has too little room for pods', async () => {
    const clusterNetwork = [{ cidr: '10.128.0.0/14', hostPrefix: 24 }]
    const network = {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Network',
      metadata: { name: 'cluster' },
      spec: { clusterNetwork, serviceNetwork: ['172.30.0.0/16'], networkType: 'OVNKubernetes' },
      status: { clusterNetwork },
    }
    await install(cluster, [network])
    await until('it is seen', async () => (await facts()).topology.smallPodSubnets === true)
  })

  await t.test('of nodes that tell their pressure, once all of a pool do', async () => {
    const path = '/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker/status'
    const source = [{ name: '99-openshift-machineconfig-worker-psi-karg' }]
    const status = { configuration: { source } }
    const { status: code } = await admin('PATCH', path, { status }, 'application/merge-patch+json')
    t.equal(code, 200)
    await until('it is seen', async () => (await facts()).topology.pressureInformation === true)
  })

  await t.test('of kubelets that read no folder of settings, by their unit', async () => {
    const path = '/apis/machineconfiguration.openshift.io/v1/machineconfigs/01-master-kubelet'
    const units = [{ name: 'kubelet.service', contents: 'ExecStart=/usr/bin/kubelet' }]
    const patch = { spec: { config: { systemd: { units } } } }
    await admin('PATCH', path, patch, 'application/merge-patch+json')
    await until('it is seen', async () => !(await facts()).topology.masterKubeletDropIns)
  })

  await t.test('of images, from the environment', async (t) => {
    t.same((await facts()).images, {})
    const image = 'quay.io/kubevirt/exporter@sha256:0'
    const env = {
      RELATED_IMAGE_METRICS_EXPORTER: image,
      RELATED_IMAGE_EMPTY: '',
      OTHER_IMAGE: image,
    }
    await restart('reconciler', { env })
    const { images } = await until('they are published', async () => {
      const found = await facts()
      return Object.keys(found.images).length > 0 && found
    })
    t.same(images, { 'metrics-exporter': image })
  })

  await t.test('of what is served, by version, of the kinds that the catalog names', async (t) => {
    const served = async () => (await facts()).served
    const MACHINE_CONFIG = 'machineconfiguration.openshift.io/MachineConfig'
    const TEMPLATE = 'self-node-remediation.medik8s.io/SelfNodeRemediationTemplate'
    t.match(await served(), {
      'hco.kubevirt.io/HyperConverged': ['v1', 'v1beta1'],
      [MACHINE_CONFIG]: ['v1'],
      'metallb.io/MetalLB': ['v1beta1'],
      [TEMPLATE]: ['v1alpha1'],
    })
    const named = ownProgram().catalog.flatMap((asset) => [
      kindKey(asset.object),
      ...conditionsOf(asset).flatMap((condition) =>
        condition.type === 'crd' ? [kindKey(condition)] : [],
      ),
    ])
    t.same(Object.keys(await served()), [...new Set(named)].sort(), 'and no others')
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const definition = `${crds}/selfnoderemediationtemplates.self-node-remediation.medik8s.io`
    await admin('DELETE', definition)
    await until('it is gone', async () => (await served())[TEMPLATE].length === 0)
    t.same((await served())[MACHINE_CONFIG], ['v1'])
  })
})
