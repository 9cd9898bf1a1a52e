import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeConfig } from '@kubernetes/client-node'

import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import type { Client } from '../../src/shared/cluster/client.ts'
import { afterAbort } from '../../src/shared/ops/shutdown.ts'
import { freePort } from '../control-plane/ports.ts'
import { type Leashed, spawnLeashed } from '../control-plane/processes.ts'
import { createAccounts, writeAccountKubeconfig } from './accounts.ts'

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

/** One of our processes, which can be ended and started again on the same ports. */
export interface Process {
  /** The running child; its `ended` settles with a few words on how it ended. */
  readonly child: () => Leashed
  /** Asks it to end (SIGTERM), and kills it when it takes too long. */
  readonly stop: () => Promise<void>
  readonly start: () => void
}

const STOP_MS = 8_000

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
  const webhook = createProcess(options, 'webhook', [
    ...common(webhookConfig, webhookOps),
    `--listen=${isLoopback(webhookHost) ? webhookHost : ''}:${webhookPort}`,
    '--shutdown-grace=0s',
    ...(options.webhookFlags ?? []),
  ])
  const reconciler = createProcess(options, 'reconciler', [
    ...common(reconcilerConfig, reconcilerOps),
    `--webhook-url=${webhookUrl}`,
    ...(options.reconcilerFlags ?? []),
  ])
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

function createProcess(
  { entry, env, folder }: AutopilotOptions,
  name: string,
  flags: readonly string[],
): Process {
  let child: Leashed | undefined
  const current = () => {
    if (!child) throw new Error(`the ${name} was never started`)
    return child
  }
  return {
    child: current,
    start() {
      child = spawnLeashed({
        name,
        file: process.execPath,
        args: [entry, name, ...flags],
        cwd: folder,
        env,
        logFile: join(folder, `${name}.log`),
      })
    },
    async stop() {
      const running = current()
      if (!running.isRunning()) return
      process.kill(running.pid, 'SIGTERM')
      const patience = new AbortController()
      await Promise.race([
        running.ended,
        sleep(STOP_MS, undefined, { signal: patience.signal }).catch(() => undefined),
      ])
      patience.abort()
      await running.kill()
    },
  }
}

/** Waits for the signal, and tells when one of our processes ends before it. */
export async function untilEnd(
  processes: readonly Process[],
  signal: AbortSignal,
  print: (line: string) => void,
) {
  for (const { child } of processes) {
    const { name, ended, logFile } = child()
    void ended.then((how) => {
      if (!signal.aborted)
        print(`the ${name} ended (${how}); the cluster goes on without it; its log: ${logFile}`)
    })
  }
  // The children are not waited for; this is what keeps us here.
  const here = setInterval(() => undefined, 60_000)
  await afterAbort(signal, async () => clearInterval(here))
}
