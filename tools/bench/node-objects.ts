import type { KubeObject } from '../../src/shared/engine/json/object.ts'

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

/** A worker like this one, as large as one at work, that differs from every other by name, place and heartbeat. */
export function workerLike(model: KubeObject, name: string, index: number) {
  const { capacity } = (model as { status?: { capacity?: object } }).status ?? {}
  const mco = 'machineconfiguration.openshift.io'
  const rendered = 'rendered-worker-0e5a1f6c2b9d4783a6f0c1d2e3b4a596'
  const images = Array.from({ length: IMAGES }, (_, image) => ({
    names: [`quay.io/demo/image-${image}@sha256:${String(image).padStart(64, '0')}`],
    sizeBytes: 123_456_789 + image,
  }))
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
        'topology.kubernetes.io/zone': `region-1${ZONES[index % ZONES.length]}`,
        'topology.kubernetes.io/rack': `rack-${Math.floor(index / NODES_PER_RACK)}`,
        'node.openshift.io/os_id': 'rhel',
      },
      annotations: {
        [`${mco}/currentConfig`]: rendered,
        [`${mco}/desiredConfig`]: rendered,
        [`${mco}/state`]: 'Done',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    status: { capacity, allocatable: capacity, conditions: heartbeatAt(FIRST_BEAT), images },
  }
}

const FIRST_BEAT = Date.UTC(2026, 0, 1)
const CONDITIONS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID'],
  ['Ready', 'True', 'KubeletReady'],
]

/** The conditions of a node that is well, as its kubelet writes them at a time in epoch milliseconds. */
export const heartbeatAt = (time: number) =>
  CONDITIONS.map(([type, status, reason]) => ({
    type,
    status,
    reason,
    message: `as the kubelet says: ${reason}`,
    lastTransitionTime: instant(FIRST_BEAT),
    lastHeartbeatTime: instant(time),
  }))

// The API has no fractions of seconds.
const instant = (time: number) => `${new Date(time).toISOString().slice(0, -5)}Z`
