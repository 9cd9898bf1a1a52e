import { mkdirSync } from 'node:fs'
import type { KubeConfig } from '@kubernetes/client-node'
import { apiVersionOf, definitionOf } from '../../../src/shared/api/custom-resource.ts'
import { ApiError, type Client } from '../../../src/shared/cluster/client.ts'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import { admissionPolicies } from '../../../src/shared/graph/admission-policies.ts'
import { GRAPH } from '../../../src/shared/graph/names.ts'
import { RESOURCE_GRAPH } from '../../../src/shared/graph/resource-graph.ts'
import { enrolment, reconcilerAccount, webhookAccount } from '../../../src/shared/graph/roles.ts'
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

/** Its accounts, what the API server refuses for it, and namespaces of Transforms that are enrolled. */
export const graphManifests = (homes: readonly string[]): readonly Manifest[] => [
  ...[GRAPH_NAMESPACE, ...homes].map(namespace),
  ...reconcilerAccount(GRAPH_NAMESPACE),
  ...webhookAccount(GRAPH_NAMESPACE),
  ...admissionPolicies(GRAPH_NAMESPACE),
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
  readonly webhookFlags?: readonly string[]
  /** False where the webhook is not started. */
  readonly hasWebhook?: boolean
}

/** The system at work on one cluster. */
export interface GraphSystem {
  readonly webhook: Process
  readonly reconciler: Process
  readonly webhookUrl: string
  /** Of the reconciler. */
  readonly opsPort: number
  readonly webhookOpsPort: number
  /** Ends both. */
  readonly stop: () => Promise<void>
}

const HOST = '127.0.0.1'

/** Starts both processes of the system on tokens of their own accounts, which are there already. */
export async function startGraphSystem(options: GraphSystemOptions): Promise<GraphSystem> {
  const { folder, evaluator, hasWebhook = true } = options
  const { reconcilerFlags = [], webhookFlags = [] } = options
  mkdirSync(folder, { recursive: true })
  const [port, opsPort, webhookOpsPort] = await Promise.all([freePort(), freePort(), freePort()])
  const webhookUrl = `https://${HOST}:${port}`
  const started = async (
    command: string,
    account: string,
    ops: number,
    flags: readonly string[],
  ) => {
    const place = { ...options, namespace: GRAPH_NAMESPACE }
    const process = createProcess(
      options,
      [command, 'graph'],
      [
        `--kubeconfig=${await writeAccountKubeconfig(place, account)}`,
        `--namespace=${GRAPH_NAMESPACE}`,
        `--ops-listen=${HOST}:${ops}`,
        `--cue-evaluator=${evaluator}`,
        ...flags,
      ],
    )
    if (hasWebhook || command !== 'webhook') process.start()
    return process
  }
  const [webhook, reconciler] = await Promise.all([
    started('webhook', GRAPH.webhookAccount, webhookOpsPort, [
      `--listen=${HOST}:${port}`,
      '--shutdown-grace=0s',
      ...webhookFlags,
    ]),
    started('reconciler', GRAPH.reconcilerAccount, opsPort, [
      `--webhook-url=${webhookUrl}`,
      ...reconcilerFlags,
    ]),
  ])
  return {
    webhook,
    reconciler,
    webhookUrl,
    opsPort,
    webhookOpsPort,
    stop: async () => {
      await Promise.all([reconciler.stop(), ...(hasWebhook ? [webhook.stop()] : [])])
    },
  }
}

/** Whether the API server asks the webhook, which a Transform that only the webhook refuses tells; nothing of it is stored. */
export async function isJudged(client: Client, namespace: string): Promise<boolean> {
  const at = { apiVersion: apiVersionOf(TRANSFORM), resource: TRANSFORM.plural, namespace }
  const name = 'is-anybody-there'
  try {
    await client.send(pathOf(at), {
      method: 'POST',
      query: { dryRun: 'All' },
      body: {
        apiVersion: at.apiVersion,
        kind: TRANSFORM.kind,
        metadata: { name, namespace },
        spec: { cueRef: { type: 'embedded', ref: name }, input: {} },
      },
    })
    return false
  } catch (error) {
    return error instanceof ApiError && error.message.includes('denied the request')
  }
}
