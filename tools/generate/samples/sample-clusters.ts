import { join } from 'node:path'

import { evaluateOffline } from '../../../src/cli/render/evaluate-offline.ts'
import type { Evaluation } from '../../../src/reconciler/baseline/gather/evaluation.ts'
import type { Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'

const TEST = join(import.meta.dirname, '../../../test')

/** A cluster to render for, as `render` is told of one. */
interface SampleCluster {
  readonly hco: string
  readonly nodes: readonly string[]
  /** API groups that are not served there. */
  readonly withoutApi?: readonly string[]
}

const POOLS = 'clusters/pools.yaml'
const KUBELETS = 'clusters/kubelets.yaml'
const OLDER_KUBELETS = 'clusters/kubelets-4.21.yaml'
const REMEDIATION = 'clusters/remediation.yaml'

/** The clusters that every asset is rendered for, by name. */
export const SAMPLE_CLUSTERS: Readonly<Record<string, SampleCluster>> = {
  'bare-metal-gpu': {
    hco: 'clusters/hco-everything.yaml',
    nodes: [
      'clusters/bare-metal.yaml',
      POOLS,
      KUBELETS,
      REMEDIATION,
      'fixtures/nodes/master.yaml',
      'fixtures/nodes/worker-baremetal-gpu.yaml',
    ],
  },
  'virtual-workers': {
    hco: 'clusters/hco-plain.yaml',
    nodes: [
      'clusters/virtual.yaml',
      POOLS,
      OLDER_KUBELETS,
      REMEDIATION,
      'clusters/foreign-remediation.yaml',
      'fixtures/nodes/master.yaml',
      'fixtures/nodes/worker-virtual.yaml',
    ],
  },
  'single-node': {
    hco: 'clusters/hco-everything.yaml',
    nodes: [POOLS, OLDER_KUBELETS, 'fixtures/nodes/cluster-sno.yaml'],
  },
  compact: {
    hco: 'clusters/hco-everything.yaml',
    nodes: [
      POOLS,
      KUBELETS,
      'clusters/remediation-elsewhere.yaml',
      'fixtures/nodes/cluster-compact.yaml',
    ],
  },
  mixed: {
    hco: 'clusters/hco-fencing.yaml',
    nodes: [
      POOLS,
      KUBELETS,
      REMEDIATION,
      'clusters/schedulable-masters.yaml',
      'fixtures/nodes/cluster-heterogeneous.yaml',
    ],
  },
  'hosted-control-plane': {
    hco: 'clusters/hco-everything.yaml',
    nodes: ['clusters/hosted.yaml', REMEDIATION, 'fixtures/nodes/worker-virtual.yaml'],
  },
  'no-openshift': {
    hco: 'clusters/hco-everything.yaml',
    nodes: [
      REMEDIATION,
      'fixtures/nodes/worker-no-nfd.yaml',
      'fixtures/nodes/worker-baremetal-gpu.yaml',
    ],
    withoutApi: [
      'machineconfiguration.openshift.io',
      'observability.openshift.io',
      'operator.openshift.io',
      'perses.dev',
    ],
  },
  'older-hyperconverged': {
    hco: 'clusters/hco-v1beta1.yaml',
    nodes: ['clusters/bare-metal.yaml', POOLS, 'fixtures/nodes/worker-baremetal-gpu.yaml'],
  },
}

/** What the product would decide on a sample cluster, as `render` has it. */
export function evaluateSample(catalog: Catalog, sample: SampleCluster): Evaluation {
  const { hco, nodes, withoutApi = [] } = sample
  const inTest = (file: string) => join(TEST, file)
  const options = { hco: inTest(hco), nodes: nodes.map(inTest), withoutApi }
  return evaluateOffline(catalog, options, {})
}
