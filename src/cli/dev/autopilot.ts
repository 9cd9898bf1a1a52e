import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeConfig } from '@kubernetes/client-node'

import type { Catalog } from '../../shared/catalog/catalog.ts'
import { RECONCILER_ACCOUNT, WEBHOOK_ACCOUNT } from '../../shared/catalog/names.ts'
import { accounts } from '../../shared/catalog/rbac.ts'
import { type Client, isConflict } from '../../shared/cluster/client.ts'
import { apply, pathOf } from '../../shared/cluster/resource.ts'
import type { KubeObject } from '../../shared/engine/object.ts'
import { afterAbort } from '../../shared/ops/shutdown.ts'
import { writeSecret } from './data-dir.ts'
import { freePort } from './ports.ts'
import { type Leashed, lastLines, spawnLeashed } from './processes.ts'

export interface AutopilotOptions {
  /** The administrator's, to set the two accounts up; the processes run on tokens of their own. */
  readonly client: Client
  readonly kubeconfig: KubeConfig
  readonly catalog: Catalog
  readonly namespace: string
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

// Until somebody ends the session: nothing renews the token of a kubeconfig file.
const TOKEN_SECONDS = 30 * 24 * 3600
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
    [WEBHOOK_ACCOUNT, RECONCILER_ACCOUNT].map((name) => writeKubeconfig(options, name)),
  )
  const common = (config: string | undefined, port: number) => [
    `--kubeconfig=${config}`,
    `--namespace=${namespace}`,
    `--ops-listen=127.0.0.1:${port}`,
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
    stop: async () => {
      await Promise.all([reconciler.stop(), webhook.stop()])
    },
  }
}

const isLoopback = (host: string) => host.startsWith('127.')

async function createAccounts(client: Client, catalog: Catalog, namespace: string): Promise<void> {
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  for (const object of [own, ...accounts(catalog, namespace)]) await applyRegular(client, object)
}

// All of these kinds are named regularly, so that nothing has to be discovered.
const applyRegular = (client: Client, { apiVersion, kind, metadata, ...rest }: KubeObject) =>
  apply(
    client,
    {
      apiVersion,
      resource: `${kind.toLowerCase()}s`,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    },
    { apiVersion, kind, metadata, ...rest },
    { fieldManager: 'virt-platform-autopilot-dev' },
  )

async function writeKubeconfig(
  { client, kubeconfig, namespace, folder }: AutopilotOptions,
  account: string,
) {
  const at = pathOf({ apiVersion: 'v1', resource: 'serviceaccounts', namespace }, account)
  const { body } = await client.send(`${at}/token`, {
    method: 'POST',
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS },
    },
  })
  const { token } = (body as { status: { token: string } }).status
  const cluster = kubeconfig.getCurrentCluster()
  const file = join(folder, `kubeconfig-${account}`)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'cluster',
        cluster: {
          server: cluster?.server,
          ...(cluster?.caData && { 'certificate-authority-data': cluster.caData }),
          ...(cluster?.caFile && { 'certificate-authority': cluster.caFile }),
          ...(cluster?.skipTLSVerify && { 'insecure-skip-tls-verify': true }),
          ...(cluster?.proxyUrl && { 'proxy-url': cluster.proxyUrl }),
        },
      },
    ],
    users: [{ name: account, user: { token } }],
    contexts: [{ name: account, context: { cluster: 'cluster', user: account } }],
    'current-context': account,
  }
  writeSecret(file, JSON.stringify(config, null, 2))
  return file
}

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

const READY_MS = 60_000
const POLL_MS = 50

/** Waits until the webhook judges writes and the leader has brought every active object to its baseline. */
export async function untilReady(
  { webhook, reconciler, opsPorts }: Autopilot,
  client: Client,
  hco: KubeObject,
) {
  const checks = [
    { what: 'the webhook is ready', isDone: () => isReady(opsPorts.webhook) },
    { what: 'every object is in sync', isDone: () => isInSync(opsPorts.reconciler) },
    { what: 'the API server asks the webhook', isDone: () => isJudged(client, hco) },
  ]
  const deadline = performance.now() + READY_MS
  for (const { what, isDone } of checks) {
    while (!(await isDone())) {
      for (const process of [webhook, reconciler]) requireRunning(process.child())
      if (performance.now() > deadline)
        throw new Error(
          `not so after ${READY_MS / 1000} s: ${what}; see ${reconciler.child().logFile} and webhook.log beside it`,
        )
      await sleep(POLL_MS)
    }
  }
}

function requireRunning(child: Leashed): void {
  if (!child.isRunning())
    throw new Error(`the ${child.name} ended by itself:\n${lastLines(child.output())}`)
}

const fetchText = async (port: number, path: string) => {
  try {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`)
    return reply.ok ? await reply.text() : undefined
  } catch {
    return undefined
  }
}

const isReady = async (port: number) => (await fetchText(port, '/readyz')) !== undefined

async function isInSync(port: number): Promise<boolean> {
  const metrics = (await fetchText(port, '/metrics')) ?? ''
  const values = metrics
    .split('\n')
    .filter((line) => line.startsWith('virt_platform_compliance_status{'))
  return values.length > 0 && values.every((line) => line.endsWith(' 1'))
}

/** Whether a value that only our webhook refuses is refused; a dry run, so that nothing is stored when it is not. */
async function isJudged(client: Client, { apiVersion, metadata }: KubeObject): Promise<boolean> {
  const { name, namespace = '' } = metadata
  try {
    await client.send(pathOf({ apiVersion, resource: 'hyperconvergeds', namespace }, name), {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      query: { dryRun: 'All', fieldManager: 'virt-platform-autopilot-dev' },
      body: { metadata: { annotations: { 'platform.kubevirt.io/mode': 'is anybody there?' } } },
    })
    return false
  } catch (error) {
    if (isConflict(error)) return false
    return (error as { status?: number }).status === 422
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
