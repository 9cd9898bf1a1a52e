import { mkdtempSync, rmSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { loadCatalogWith } from '../../src/cli/assets.ts'
import { DEFAULT_TIMEOUT_S } from '../../src/cli/options.ts'
import { diffCluster } from '../../src/reconciler/baseline/cluster-diff.ts'
import type { Reporter } from '../../src/reconciler/baseline/report/report.ts'
import { runReconciler } from '../../src/reconciler/baseline/run.ts'
import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import { type Client, connect } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import { whoAmI } from '../../src/shared/cluster/who-am-i.ts'
import { accountUser } from '../../src/shared/engine/identity.ts'
import type { Env } from '../../src/shared/ops/env.ts'
import { createLog } from '../../src/shared/ops/log.ts'
import { startAutopilot } from './autopilot.ts'
import { childEnvironment, DEV_NAMESPACE, ENTRY, type Print } from './environment.ts'
import { createPreview } from './preview.ts'
import { untilEnd } from './process.ts'

export interface OwnClusterOptions {
  readonly kubeconfig: string
  readonly write?: boolean
  /** Our address as the cluster's API server sees it. */
  readonly webhookHost?: string
  readonly disruptiveChanges?: 'apply' | 'hold'
  /** A folder of assets of one's own. */
  readonly assets?: string
}

/** Runs on a cluster of one's own: shows what would change, and changes it only with --write. */
export async function ownCluster(
  options: OwnClusterOptions,
  env: Env,
  print: Print,
  signal: AbortSignal,
): Promise<void> {
  const kubeconfig = loadKubeconfig(options.kubeconfig)
  const client = await connect(kubeconfig)
  const catalog = await loadCatalogWith({ ...options, namespace: DEV_NAMESPACE })
  try {
    await requireStranger(client, DEV_NAMESPACE)
    print(`reading ${client.server}; this is what would change:`)
    const preview = createPreview(catalog, print)
    const { disruptiveChanges = 'hold' } = options
    preview.show(await diffCluster({ client, catalog, ...UNCHOSEN, disruptiveChanges }))
    if (options.write !== true) {
      print('observing only: nothing is written (--write changes that). Ctrl-C ends.')
      await observe({ client, catalog, disruptiveChanges, reporter: preview.reporter, signal })
      return
    }
    await write({ options, env, kubeconfig, client, catalog, print, signal })
  } finally {
    await client.close()
  }
}

const UNCHOSEN = { namespace: DEV_NAMESPACE, hcoNamespace: undefined, images: {} } as const

interface ObserveInput {
  readonly client: Client
  readonly catalog: Catalog
  readonly disruptiveChanges: 'apply' | 'hold'
  readonly reporter: Reporter
  readonly signal: AbortSignal
}

/** Goes on to tell what would change, until the signal. */
async function observe({ client, catalog, disruptiveChanges, reporter, signal }: ObserveInput) {
  const { ended } = await runReconciler(
    {
      namespace: DEV_NAMESPACE,
      hcoNamespace: undefined,
      opsListen: { host: '127.0.0.1', port: 0 },
      isElected: false,
      isObserver: true,
      resyncMs: 300_000,
      disruptiveChanges,
      activation: 'on',
      // Whoever only observes heals nothing.
      healLimits: { capacity: 1, windowMs: 60_000 },
      failurePolicy: 'Ignore',
      webhookTimeoutS: DEFAULT_TIMEOUT_S,
      trustedUser: undefined,
      endpoint: { url: 'https://127.0.0.1:1' },
      webhookCa: undefined,
      caInjection: undefined,
      images: {},
    },
    { client, catalog, log: createLog('dev', 'warn'), signal, reporter },
  )
  await ended
}

interface WriteInput {
  readonly options: OwnClusterOptions
  readonly env: Env
  readonly kubeconfig: KubeConfig
  readonly client: Client
  readonly catalog: Catalog
  readonly print: Print
  readonly signal: AbortSignal
}

async function write(input: WriteInput): Promise<void> {
  const { options, env, client, print, signal } = input
  if (signal.aborted) return
  const folder = mkdtempSync(join(tmpdir(), 'virt-platform-autopilot-dev-'))
  const host = options.webhookHost ?? ownAddress(client.server)
  print(`changing it from now on; its API server reaches the webhook at ${host}`)
  const autopilot = await startAutopilot({
    ...input,
    namespace: DEV_NAMESPACE,
    ...(options.assets !== undefined && { assets: options.assets }),
    folder,
    webhookHost: host,
    entry: ENTRY,
    env: childEnvironment(env),
    reconcilerFlags: [`--disruptive-changes=${options.disruptiveChanges ?? 'hold'}`],
  })
  try {
    print(
      `logs: ${join(folder, 'reconciler.log')} and webhook.log beside it. Ctrl-C ends both; what they applied stays.`,
    )
    await untilEnd([autopilot.webhook, autopilot.reconciler], signal, print)
  } finally {
    await autopilot.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Our address as the cluster's API server most likely sees it. */
function ownAddress(server: string): string {
  const { hostname } = new URL(server)
  if (hostname === 'localhost' || hostname.startsWith('127.')) return '127.0.0.1'
  const addresses = Object.values(networkInterfaces()).flatMap((known) => known ?? [])
  const outside = addresses.find(({ internal, family }) => !internal && family === 'IPv4')
  if (outside) return outside.address
  throw new Error(
    'this machine has no address that a cluster could reach: give one with --webhook-host',
  )
}

/** Throws when the kubeconfig is the reconciler's own: whoever tries things on it would never be judged. */
async function requireStranger(client: Client, namespace: string): Promise<void> {
  const exempt = accountUser(namespace, BASELINE.reconcilerAccount)
  if ((await whoAmI(client)) !== exempt) return
  throw new Error(
    `the kubeconfig is ${exempt}'s, whose writes the webhook never sees: use an administrator's`,
  )
}
