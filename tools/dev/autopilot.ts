import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'

import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import type { Client } from '../../src/shared/cluster/client.ts'
import { freePort } from '../control-plane/ports.ts'
import { createAccounts, writeAccountKubeconfig } from './accounts.ts'
import { createProcess, type Process } from './process.ts'

export interface AutopilotOptions {
  /** The administrator's, to set the two accounts up; the processes run on tokens of their own. */
  readonly client: Client
  readonly kubeconfig: KubeConfig
  readonly catalog: Catalog
  readonly namespace: string
  /** The folder of assets of one's own that is part of the catalog. */
  readonly assets?: string
  /** Where kubeconfigs and logs are written. */
  readonly folder: string
  /** Our address as the API server sees it. */
  readonly webhookHost: string
  /** The program: src/cli/main.ts, or its bundle. */
  readonly entry: string
  readonly env: Readonly<Record<string, string>>
  readonly webhookFlags?: readonly string[]
  readonly reconcilerFlags?: readonly string[]
}

/** Both processes at work on one cluster. */
export interface Autopilot {
  readonly webhook: Process
  readonly reconciler: Process
  readonly webhookPort: number
  readonly webhookUrl: string
  readonly opsPorts: { readonly webhook: number; readonly reconciler: number }
  /** How many assets the catalog has. */
  readonly assets: number
  /** Ends both, in order. */
  readonly stop: () => Promise<void>
}

/** Creates the accounts with their generated roles, and starts both processes on tokens of these accounts. */
export async function startAutopilot(options: AutopilotOptions): Promise<Autopilot> {
  const { client, catalog, namespace, folder, webhookHost } = options
  await createAccounts(client, catalog, namespace)
  const [webhookPort, webhookOps, reconcilerOps] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
  ])
  const webhookUrl = `https://${webhookHost}:${webhookPort}`
  mkdirSync(folder, { recursive: true })
  const [webhookConfig, reconcilerConfig] = await Promise.all(
    [BASELINE.webhookAccount, BASELINE.reconcilerAccount].map((name) =>
      writeAccountKubeconfig(options, name),
    ),
  )
  const common = (config: string | undefined, port: number) => [
    `--kubeconfig=${config}`,
    `--namespace=${namespace}`,
    `--ops-listen=127.0.0.1:${port}`,
    ...(options.assets === undefined ? [] : [`--assets=${resolve(options.assets)}`]),
  ]
  const webhook = createProcess(
    options,
    ['webhook'],
    [
      ...common(webhookConfig, webhookOps),
      `--listen=${isLoopback(webhookHost) ? webhookHost : ''}:${webhookPort}`,
      '--shutdown-grace=0s',
      ...(options.webhookFlags ?? []),
    ],
  )
  const reconciler = createProcess(
    options,
    ['reconciler'],
    [
      ...common(reconcilerConfig, reconcilerOps),
      `--webhook-url=${webhookUrl}`,
      ...(options.reconcilerFlags ?? []),
    ],
  )
  webhook.start()
  reconciler.start()
  return {
    webhook,
    reconciler,
    webhookPort,
    webhookUrl,
    opsPorts: { webhook: webhookOps, reconciler: reconcilerOps },
    assets: catalog.length,
    stop: async () => {
      await Promise.all([reconciler.stop(), webhook.stop()])
    },
  }
}

const isLoopback = (host: string) => host.startsWith('127.')
