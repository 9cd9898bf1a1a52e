import type { KubeObject } from '../../src/shared/engine/json/object.ts'

// As many as a kubelet reports, and as Node Feature Discovery finds flags of a server's processor.
const IMAGES = 50
const CPU_FLAGS = 60
const NODES_PER_RACK = 32

/** A worker like this one, as large as one at work, that differs from every other by name and place. */
export function workerLike(model: KubeObject, index: number) {
  const { capacity } = (model as { status?: { capacity?: object } }).status ?? {}
  const name = `bench-worker-${index}`
  const flags = Array.from({ length: CPU_FLAGS }, (_, flag) => [
    `feature.node.kubernetes.io/cpu-cpuid.AVX${flag}`,
    'true',
  ])
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
        ...Object.fromEntries(flags),
        ...model.metadata.labels,
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': `region-1${'abc'[index % 3]}`,
        'topology.kubernetes.io/rack': `rack-${Math.floor(index / NODES_PER_RACK)}`,
      },
    },
    status: { capacity, allocatable: capacity, images },
  }
}
