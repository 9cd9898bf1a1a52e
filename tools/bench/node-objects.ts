import type { KubeObject } from '../../src/shared/engine/json/object.ts'

export const NODES = { apiVersion: 'v1', resource: 'nodes' }

// As many as a kubelet reports.
const IMAGES = 50
const ZONES = ['a', 'b', 'c']
const NODES_PER_RACK = 32

// What Node Feature Discovery finds on a server's processor, one label for each.
const CPU_FLAGS =
  `ADX AESNI AMXBF16 AMXINT8 AMXTILE AVX AVX2 AVX512BF16 AVX512BITALG AVX512BW AVX512CD
AVX512DQ AVX512F AVX512FP16 AVX512IFMA AVX512VBMI AVX512VBMI2 AVX512VL AVX512VNNI AVX512VPOPCNTDQ AVXVNNI
CLDEMOTE CMPXCHG8 ENQCMD FLUSH_L1D FMA3 FSRM FXSR FXSROPT GFNI HLE IA32_ARCH_CAP IBPB IBRS LAHF MD_CLEAR
MOVBE MOVDIR64B MOVDIRI OSXSAVE SERIALIZE SHA SPEC_CTRL_SSBD STIBP SYSCALL SYSEE TSXLDTRK VAES VMX VPCLMULQDQ
WBNOINVD X87 XGETBV1 XSAVE XSAVEC XSAVEOPT XSAVES`.split(/\s+/)
const CPU_LABELS = CPU_FLAGS.map((flag) => [`feature.node.kubernetes.io/cpu-cpuid.${flag}`, 'true'])

interface NodeLike extends KubeObject {
  readonly status?: { readonly capacity?: object }
}

/** A worker like this one, as large as one at work, that differs from every other by name, place and heartbeat. */
export function workerLike(model: KubeObject, name: string, index: number): KubeObject {
  const { capacity } = (model as NodeLike).status ?? {}
  const zone = `region-1${ZONES[index % ZONES.length]}`
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        ...Object.fromEntries(CPU_LABELS),
        ...model.metadata.labels,
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'topology.kubernetes.io/zone': zone,
        'topology.kubernetes.io/rack': `rack-${Math.floor(index / NODES_PER_RACK)}`,
        'node.openshift.io/os_id': 'rhel',
      },
      annotations: {
        'machineconfiguration.openshift.io/currentConfig': RENDERED,
        'machineconfiguration.openshift.io/desiredConfig': RENDERED,
        'machineconfiguration.openshift.io/state': 'Done',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    status: {
      capacity,
      allocatable: capacity,
      conditions: heartbeatAt(FIRST_BEAT),
      images: images(),
    },
  }
}

const RENDERED = 'rendered-worker-0e5a1f6c2b9d4783a6f0c1d2e3b4a596'
const FIRST_BEAT = Date.UTC(2026, 0, 1)

const CONDITIONS = [
  { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' },
  { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure' },
  { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID' },
  { type: 'Ready', status: 'True', reason: 'KubeletReady' },
]

/** The conditions of a node that is well, as its kubelet writes them at a time in epoch milliseconds. */
export const heartbeatAt = (time: number) =>
  CONDITIONS.map((condition) => ({
    ...condition,
    message: `as the kubelet says: ${condition.reason}`,
    lastTransitionTime: instant(FIRST_BEAT),
    lastHeartbeatTime: instant(time),
  }))

// The API has no fractions of seconds.
const instant = (time: number) => `${new Date(time).toISOString().slice(0, -5)}Z`

const images = () =>
  Array.from({ length: IMAGES }, (_, index) => ({
    names: [`quay.io/demo/image-${index}@sha256:${String(index).padStart(64, '0')}`],
    sizeBytes: 123_456_789 + index,
  }))
