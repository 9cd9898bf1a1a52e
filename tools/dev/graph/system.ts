import { mkdirSync } from 'node:fs'
import type { KubeConfig } from '@kubernetes/client-node'
import { definitionOf } from '../../../src/shared/api/custom-resource.ts'
import type { Client } from '../../../src/shared/cluster/client.ts'
import { GRAPH } from '../../../src/shared/graph/names.ts'
import { RESOURCE_GRAPH } from '../../../src/shared/graph/resource-graph.ts'
import { enrolment, reconcilerAccount } from '../../../src/shared/graph/roles.ts'
import { TRANSFORM } from '../../../src/shared/graph/transform.ts'
import type { Manifest } from '../../control-plane/manifests.ts'
import { freePort } from '../../control-plane/ports.ts'
import { writeAccountKubeconfig } from '../accounts.ts'
import { createProcess, type Process } from '../process.ts'

/** Where the system lives. */
export const GRAPH_NAMESPACE = GRAPH.name

/** The definitions of its kinds. */
export const graphDefinitions = (): readonly Manifest[] =>
  [TRANSFORM, RESOURCE_GRAPH].map(definitionOf)

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

/** Its accounts, and namespaces of Transforms that are enrolled. */
export const graphManifests = (homes: readonly string[]): readonly Manifest[] => [
  ...[GRAPH_NAMESPACE, ...homes].map(namespace),
  ...reconcilerAccount(GRAPH_NAMESPACE),
  ...homes.flatMap((home) => enrolment(home, GRAPH_NAMESPACE)),
]

export interface GraphSystemOptions {
  /** The administrator's, to make tokens. */
  readonly client: Client
  readonly kubeconfig: KubeConfig
  /** Where kubeconfigs and logs are written. */
  readonly folder: string
  /** The program: src/cli/main.ts, or its bundle. */
  readonly entry: string
  readonly env: Readonly<Record<string, string>>
  /** The program that evaluates CUE. */
  readonly evaluator: string
  readonly reconcilerFlags?: readonly string[]
}

/** The system at work on one cluster. */
export interface GraphSystem {
  readonly reconciler: Process
  readonly opsPort: number
}

/** Starts the system on a token of its own account, which is there already. */
export async function startGraphSystem(options: GraphSystemOptions): Promise<GraphSystem> {
  const { folder, evaluator, reconcilerFlags = [] } = options
  mkdirSync(folder, { recursive: true })
  const kubeconfig = await writeAccountKubeconfig(
    { ...options, namespace: GRAPH_NAMESPACE },
    GRAPH.reconcilerAccount,
  )
  const opsPort = await freePort()
  const reconciler = createProcess(
    options,
    ['reconciler', 'graph'],
    [
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${GRAPH_NAMESPACE}`,
      `--ops-listen=127.0.0.1:${opsPort}`,
      `--cue-evaluator=${evaluator}`,
      ...reconcilerFlags,
    ],
  )
  reconciler.start()
  return { reconciler, opsPort }
}
