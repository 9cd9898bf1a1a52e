import { join } from 'node:path'
import { loadCatalogWith } from '../../src/cli/assets.ts'
import { UsageError } from '../../src/cli/run-cli.ts'
import { connect } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import type { Env } from '../../src/shared/ops/env.ts'
import { signalOnTermination } from '../../src/shared/ops/shutdown.ts'
import { startControlPlane } from '../control-plane/control-plane.ts'
import { loadDefinitions } from '../control-plane/definitions.ts'
import { install } from '../control-plane/install.ts'
import { loadManifests } from '../control-plane/manifests.ts'
import { findBinaries } from '../go-programs/binaries.ts'
import { startAutopilot } from './autopilot.ts'
import { childEnvironment, DEV_NAMESPACE, ENTRY, type Print } from './environment.ts'
import type { OwnClusterOptions } from './own-cluster.ts'
import { untilEnd } from './process.ts'
import { untilReady } from './readiness.ts'
import { whatToTry } from './what-to-try.ts'

const CRDS = join(import.meta.dirname, '../../test/crds')
const SAMPLES = join(import.meta.dirname, '../../test/samples')

export interface DevOptions extends Partial<OwnClusterOptions> {
  readonly systems: 'baseline' | 'graph'
}

/** `npm start`: the whole product at work, until Ctrl-C. */
export async function dev(options: DevOptions, env: Env): Promise<void> {
  const signal = signalOnTermination()
  const startedAt = performance.now()
  const print = (line: string) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    process.stdout.write(`${seconds.padStart(6)}s  ${line}\n`)
  }
  if (options.systems === 'graph') {
    if (options.kubeconfig !== undefined)
      throw new UsageError('--systems graph runs on the embedded control plane only')
    return (await import('./graph/demo.ts')).graph(env, print, signal)
  }
  if (options.kubeconfig === undefined) {
    if (options.write || options.webhookHost)
      throw new UsageError('--write and --webhook-host need --kubeconfig FILE')
    return embedded(options, env, print, signal)
  }
  const { ownCluster } = await import('./own-cluster.ts')
  return ownCluster({ ...options, kubeconfig: options.kubeconfig }, env, print, signal)
}

async function embedded(
  options: DevOptions,
  env: Env,
  print: Print,
  signal: AbortSignal,
): Promise<void> {
  const catalog = await loadCatalogWith({ ...options, namespace: DEV_NAMESPACE })
  const binaries = await findBinaries({ env, print })
  print(`starting etcd, kube-apiserver ${binaries.version} and kube-controller-manager`)
  const plane = await startControlPlane({ binaries, controllerManager: true, print })
  try {
    if (signal.aborted) return
    print('installing the CRDs, sample nodes and a HyperConverged')
    const manifests = [...loadDefinitions(CRDS), ...loadManifests(SAMPLES)]
    await install(plane, manifests)
    const hco = manifests.find(({ kind }) => kind === 'HyperConverged')
    if (!hco) throw new Error('test/samples holds no HyperConverged')
    const kubeconfig = loadKubeconfig(plane.kubeconfig)
    const client = await connect(kubeconfig)
    print('starting the webhook and the reconciler')
    const autopilot = await startAutopilot({
      client,
      kubeconfig,
      catalog,
      namespace: DEV_NAMESPACE,
      ...(options.assets !== undefined && { assets: options.assets }),
      folder: join(plane.dataDir, 'autopilot'),
      webhookHost: '127.0.0.1',
      entry: ENTRY,
      env: childEnvironment(env),
      reconcilerFlags: [`--disruptive-changes=${options.disruptiveChanges ?? 'apply'}`],
    })
    try {
      await untilReady(autopilot, client, hco as never)
      print('ready')
      process.stdout.write(
        whatToTry({
          kubeconfig: plane.kubeconfig,
          builtKubectl: binaries.kubectl,
          path: env.PATH ?? '',
          logs: join(plane.dataDir, 'autopilot'),
          webhookPid: autopilot.webhook.child().pid,
        }),
      )
      await untilEnd([autopilot.webhook, autopilot.reconciler], signal, print)
    } finally {
      print('stopping')
      await autopilot.stop()
      await client.close()
    }
  } finally {
    await plane.stop()
  }
}
