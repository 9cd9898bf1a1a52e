import { DETECTORS, type Detector } from './facts.ts'
import { isMaster } from './node-roles.ts'

/** The part of a Node that says what hardware it has. */
export interface NodeHardware {
  readonly labels: Readonly<Record<string, string>>
  readonly capacity: Readonly<Record<string, string>>
}

export type Hardware = Readonly<Record<Detector, boolean>>

/**
 * What the nodes together have. Sources: the labels of Node Feature Discovery, in the spelling of
 * upstream (`pci-0302_10de.present`) and of the OpenShift operator (`pci-10de.present`), and the
 * extended resources of device plugins in a node's capacity.
 * See https://kubernetes-sigs.github.io/node-feature-discovery/stable/usage/features.html
 */
export function detectHardware(nodes: readonly NodeHardware[]): Hardware {
  const gpuPresent = nodes.some(hasGpu)
  // By pool, since a change of one reboots its nodes alone: a node with both roles is in that of the masters.
  const amd64WithDevices = nodes.filter(
    (node) => isAmd64(node) && (hasGpu(node) || hasPassthroughDevice(node)),
  )
  return {
    gpuPresent,
    pciDevicesPresent: gpuPresent || nodes.some(hasPassthroughDevice),
    amd64PciDevicesOnWorkers: amd64WithDevices.some(({ labels }) => !isMaster(labels)),
    amd64PciDevicesOnMasters: amd64WithDevices.some(({ labels }) => isMaster(labels)),
    numaNodesPresent: nodes.some(({ labels }) => labels[`${NFD}memory-numa`] === 'true'),
  }
}

const NFD = 'feature.node.kubernetes.io/'
const PCI =
  /^feature\.node\.kubernetes\.io\/pci-(?:([0-9a-f]{4})_)?([0-9a-f]{4})(?:_[0-9a-f_]+)?\.present$/

// The display controllers of baseboard management (Matrox, ASPEED): nobody passes these to a VM.
const BMC_VENDORS = new Set(['102b', '1a03'])
const GPU_VENDORS = new Set(['10de', '1002'])
const GPU_RESOURCE = /^(nvidia\.com|amd\.com|gpu\.intel\.com)\//

const pciDevices = ({ labels }: NodeHardware) =>
  Object.entries(labels).flatMap(([key, value]) => {
    const [, pciClass, vendor] = PCI.exec(key) ?? []
    return value === 'true' && vendor !== undefined ? [{ pciClass, vendor }] : []
  })

// Vendor alone can be any device of that vendor; only the makers of nothing but GPUs say enough.
const isGpu = ({ pciClass, vendor }: { pciClass: string | undefined; vendor: string }) =>
  pciClass === undefined
    ? GPU_VENDORS.has(vendor)
    : pciClass.startsWith('03') && !BMC_VENDORS.has(vendor)

const hasGpu = (node: NodeHardware) =>
  isBareMetal(node) &&
  (pciDevices(node).some(isGpu) ||
    Object.entries(node.capacity).some(
      ([resource, quantity]) => GPU_RESOURCE.test(resource) && quantity !== '0',
    ))

// A plain NIC is on every machine; it is worth an IOMMU only when it can be split into functions.
const hasPassthroughDevice = (node: NodeHardware) =>
  isBareMetal(node) &&
  (node.labels[`${NFD}network-sriov.capable`] === 'true' ||
    pciDevices(node).some(({ pciClass }) => pciClass === '0b40' || pciClass?.startsWith('12')))

// Each kubelet sets the label; who makes a node without it means the usual one.
const isAmd64 = ({ labels }: NodeHardware) => (labels['kubernetes.io/arch'] ?? 'amd64') === 'amd64'

const isBareMetal = ({ labels }: NodeHardware) =>
  labels[`${NFD}cpu-cpuid.HYPERVISOR`] !== 'true' &&
  (labels[`${NFD}cpu-model.hypervisor`] ?? 'none') === 'none'

/** A detector's value and, once it was observed false while it holds true, since when (epoch milliseconds). */
export interface StickyFlag {
  readonly value: boolean
  readonly falseSince?: number
}
export type StickyHardware = Readonly<Record<Detector, StickyFlag>>

/** How long a device must be gone before its flag turns false: longer than a node takes to reboot. */
export const STICKY_MS = 15 * 60_000

/** Takes new observations in: true at once, false only after STICKY_MS of nothing but false. */
export function holdHardware(
  previous: StickyHardware | undefined,
  observed: Hardware,
  now: number,
): StickyHardware {
  const flags = DETECTORS.map((detector) => [
    detector,
    hold(previous?.[detector], observed[detector], now),
  ])
  return Object.fromEntries(flags) as StickyHardware
}

function hold(previous: StickyFlag | undefined, observed: boolean, now: number): StickyFlag {
  if (observed || !previous?.value) return { value: observed }
  const falseSince = Math.min(previous.falseSince ?? now, now)
  return now - falseSince >= STICKY_MS ? { value: false } : { value: true, falseSince }
}
