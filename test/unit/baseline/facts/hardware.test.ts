import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { DETECTORS, type Detector } from '../../../../src/shared/baseline/facts/facts.ts'
import {
  detectHardware,
  type Hardware,
  holdHardware,
  type NodeHardware,
  STICKY_MS,
} from '../../../../src/shared/baseline/facts/hardware.ts'
import { seed } from '../../engine/merge/schemas.ts'

interface Sample {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: NodeHardware['labels'] }
  readonly status: { readonly capacity: NodeHardware['capacity'] }
}

const nodesOf = (file: string, ...names: readonly string[]): readonly NodeHardware[] => {
  const text = readFileSync(
    new URL(`../../../fixtures/nodes/${file}.yaml`, import.meta.url),
    'utf8',
  )
  const nodes = parseAllDocuments(text)
    .map((document) => document.toJS() as Sample)
    .filter(
      ({ kind, metadata }) =>
        kind === 'Node' && (names[0] === undefined || names.includes(metadata.name)),
    )
  if (nodes.length === 0) throw new Error(`${file} has no node ${names.join()}`)
  return nodes.map(({ metadata, status }) => ({
    labels: metadata.labels,
    capacity: status.capacity,
  }))
}

const found = (nodes: readonly NodeHardware[]) => {
  const hardware = detectHardware(nodes)
  return DETECTORS.filter((detector) => hardware[detector])
}

const PCI = 'pciDevicesPresent'
const AMD64 = 'amd64PciDevicesOnWorkers'
const MASTER = 'amd64PciDevicesOnMasters'
const NUMA = 'numaNodesPresent'
const GPU = 'gpuPresent'

const samples: readonly (readonly [what: string, nodes: readonly NodeHardware[], ...Detector[]])[] =
  [
    ['no node at all', []],
    [
      'a bare-metal worker with GPUs for VMs',
      nodesOf('worker-baremetal-gpu'),
      PCI,
      AMD64,
      NUMA,
      GPU,
    ],
    ['a virtual worker', nodesOf('worker-virtual')],
    ['a worker without Node Feature Discovery', nodesOf('worker-no-nfd')],
    ['a control-plane node', nodesOf('master')],
    ['a single node with an SR-IOV capable NIC', nodesOf('cluster-sno'), PCI, MASTER, NUMA],
    ['compact masters with SR-IOV capable NICs', nodesOf('cluster-compact'), PCI, MASTER, NUMA],
    [
      'a plain Intel worker with an SR-IOV capable NIC',
      nodesOf('cluster-heterogeneous', 'worker-0'),
      PCI,
      AMD64,
      NUMA,
    ],
    [
      'an AMD worker with GPUs for containers',
      nodesOf('cluster-heterogeneous', 'worker-amd-0'),
      PCI,
      AMD64,
      NUMA,
      GPU,
    ],
    [
      'an arm64 worker with an SR-IOV capable NIC',
      nodesOf('cluster-heterogeneous', 'worker-arm-0'),
      PCI,
    ],
    [
      'an infra node with the display of its management controller',
      nodesOf('cluster-heterogeneous', 'infra-0'),
    ],
    ['a mixed cluster', nodesOf('cluster-heterogeneous'), PCI, AMD64, NUMA, GPU],
  ]

for (const [what, nodes, ...detectors] of samples) {
  t.test(`finds ${detectors.join(', ') || 'nothing'} on ${what}`, async (t) => {
    t.same(found(nodes), detectors)
  })
}

const NFD = 'feature.node.kubernetes.io/'
const labelled = (...labels: readonly string[]): NodeHardware => ({
  labels: Object.fromEntries(labels.map((label) => [`${NFD}${label}`, 'true'])),
  capacity: {},
})
const NONE: NodeHardware = { labels: {}, capacity: {} }
const withLabel = (key: string, value: string): NodeHardware => ({
  labels: { [key]: value },
  capacity: {},
})
const withCapacity = (resource: string, quantity: string): NodeHardware => ({
  labels: {},
  capacity: { [resource]: quantity },
})
const guest = (node: NodeHardware, label: string, value: string): NodeHardware => ({
  ...node,
  labels: { ...node.labels, [`${NFD}${label}`]: value },
})

const spellings: readonly (readonly [what: string, node: NodeHardware, ...Detector[]])[] = [
  ['an NVIDIA GPU, class and vendor', labelled('pci-0302_10de.present'), PCI, AMD64, GPU],
  ['an NVIDIA GPU, vendor alone', labelled('pci-10de.present'), PCI, AMD64, GPU],
  [
    'an NVIDIA GPU, class, vendor and device',
    labelled('pci-0300_10de_2236.present'),
    PCI,
    AMD64,
    GPU,
  ],
  ['an AMD GPU, vendor alone', labelled('pci-1002.present'), PCI, AMD64, GPU],
  ['an Intel GPU, class and vendor', labelled('pci-0380_8086.present'), PCI, AMD64, GPU],
  ['Intel, vendor alone, which is any device', labelled('pci-8086.present')],
  ['the display of a Matrox management controller', labelled('pci-0300_102b.present')],
  [
    'the display of an ASPEED management controller',
    labelled('pci-0300_1a03.present', 'pci-1a03.present'),
  ],
  ['a processing accelerator', labelled('pci-1200_1da3.present'), PCI, AMD64],
  ['a co-processor', labelled('pci-0b40_8086.present'), PCI, AMD64],
  [
    'a plain NIC without SR-IOV, which counts as no passthrough device',
    labelled('pci-0200_15b3.present'),
  ],
  [
    'a NIC that can be split into functions',
    labelled('pci-0200_15b3.present', 'network-sriov.capable'),
    PCI,
    AMD64,
  ],
  ['a GPU whose label says false', withLabel(`${NFD}pci-0302_10de.present`, 'false')],
  ['the SR-IOV label of one device alone', labelled('pci-10de.sriov.capable')],
  ['a GPU resource of NVIDIA', withCapacity('nvidia.com/GA102GL_A10', '2'), PCI, AMD64, GPU],
  ['a GPU resource of AMD', withCapacity('amd.com/gpu', '1'), PCI, AMD64, GPU],
  ['a GPU resource of Intel', withCapacity('gpu.intel.com/i915', '1'), PCI, AMD64, GPU],
  ['a GPU resource of which none is left', withCapacity('nvidia.com/gpu', '0')],
  ["KubeVirt's own devices", withCapacity('devices.kubevirt.io/kvm', '1k')],
  ['huge pages of arm64', withCapacity('hugepages-64Ki', '1Gi')],
  [
    'a GPU lent to a virtual machine, by CPU flag',
    guest(withCapacity('nvidia.com/gpu', '1'), 'cpu-cpuid.HYPERVISOR', 'true'),
  ],
  [
    'a GPU lent to a virtual machine, by hypervisor',
    guest(labelled('pci-10de.present'), 'cpu-model.hypervisor', 'kvm'),
  ],
  [
    'an accelerator lent to a virtual machine',
    guest(labelled('pci-1200_1da3.present'), 'cpu-model.hypervisor', 'kvm'),
  ],
  ['threads of one core, which say nothing about NUMA', labelled('cpu-hardware_multithreading')],
  ['several NUMA nodes', labelled('memory-numa'), NUMA],
  ['a USB device, which whoever wants it names himself', labelled('usb-fe_1a6e_089a.present')],
]

for (const [what, node, ...detectors] of spellings) {
  t.test(`takes ${what} for ${detectors.join(', ') || 'nothing'}`, async (t) => {
    t.same(found([NONE, node]), detectors)
  })
}

const NOTHING = detectHardware([])
const WITH_GPU: Hardware = { ...NOTHING, gpuPresent: true }
const NOON = 1_700_000_000_000

t.test('believes in hardware at once', async (t) => {
  const first = holdHardware(undefined, NOTHING, NOON)
  t.same(first.gpuPresent, { value: false })
  t.same(holdHardware(first, WITH_GPU, NOON + 1).gpuPresent, { value: true })
})

t.test('stops to believe in hardware only when it was gone for fifteen minutes', async (t) => {
  t.equal(STICKY_MS, 900_000)
  let sticky = holdHardware(undefined, WITH_GPU, NOON)
  const look = (hardware: Hardware, afterMs: number) => {
    sticky = holdHardware(sticky, hardware, NOON + afterMs)
    return sticky.gpuPresent
  }
  t.same(look(NOTHING, 1_000), { value: true, falseSince: NOON + 1_000 })
  t.same(look(NOTHING, STICKY_MS), { value: true, falseSince: NOON + 1_000 })
  t.same(look(WITH_GPU, STICKY_MS + 500), { value: true }, 'seen again, the time starts anew')
  t.same(look(NOTHING, STICKY_MS + 2_000), { value: true, falseSince: NOON + STICKY_MS + 2_000 })
  t.same(look(NOTHING, 2 * STICKY_MS + 1_999), {
    value: true,
    falseSince: NOON + STICKY_MS + 2_000,
  })
  t.same(look(NOTHING, 2 * STICKY_MS + 2_000), { value: false })
  t.same(look(NOTHING, 3 * STICKY_MS), { value: false })
})

t.test('agrees with an earlier leader whose clock is ahead', async (t) => {
  const ahead = {
    ...holdHardware(undefined, WITH_GPU, NOON),
    gpuPresent: { value: true, falseSince: NOON + 60_000 },
  }
  const sticky = holdHardware(ahead, NOTHING, NOON)
  t.same(sticky.gpuPresent, { value: true, falseSince: NOON })
})

t.test('takes a detector that an earlier version did not know as observed', async (t) => {
  const { gpuPresent: _, ...older } = holdHardware(undefined, NOTHING, NOON)
  const sticky = holdHardware(older as ReturnType<typeof holdHardware>, WITH_GPU, NOON)
  t.same(sticky.gpuPresent, { value: true })
})

t.test('never calls hardware gone that was there within fifteen minutes', async (t) => {
  const looks = fc.array(fc.record({ isThere: fc.boolean(), waitMs: fc.nat(STICKY_MS) }), {
    maxLength: 20,
  })
  const property = fc.property(looks, (steps) => {
    let [now, lastSeen] = [NOON, NOON]
    let sticky = holdHardware(undefined, WITH_GPU, now)
    for (const { isThere, waitMs } of steps) {
      now += waitMs
      lastSeen = isThere ? now : lastSeen
      sticky = holdHardware(sticky, isThere ? WITH_GPU : NOTHING, now)
      t.ok(sticky.gpuPresent.value || now - lastSeen >= STICKY_MS)
    }
  })
  t.doesNotThrow(() => fc.assert(property, { seed, numRuns: 50 }))
})
