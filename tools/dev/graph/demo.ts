import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import { TRANSFORM, type Transform } from '../../../src/shared/graph/transform.ts'
import type { Env } from '../../../src/shared/ops/env.ts'
import { startControlPlane } from '../../control-plane/control-plane.ts'
import { install } from '../../control-plane/install.ts'
import { loadManifests, type Manifest, manifestsIn } from '../../control-plane/manifests.ts'
import { findBinaries } from '../../go-programs/binaries.ts'
import { findTool } from '../../go-programs/tools.ts'
import { childEnvironment, ENTRY, type Print } from '../environment.ts'
import { untilEnd } from '../process.ts'
import { requireRunning } from '../readiness.ts'
import {
  type GraphSystem,
  graphDefinitions,
  graphManifests,
  isJudged,
  startGraphSystem,
} from './system.ts'
import { graphToTry } from './to-try.ts'

const SAMPLE = join(import.meta.dirname, '../../../assets/graph/samples/webservice.yaml')
const NODES = join(import.meta.dirname, '../../../test/samples')
/** The namespace of the sample. */
const HOME = 'shop'
const READY_MS = 60_000
const POLL_MS = 50

/** `npm start -- --systems graph`: Transforms at work on an embedded control plane with nodes that only seem to run pods. */
export async function graph(env: Env, print: Print, signal: AbortSignal): Promise<void> {
  const binaries = await findBinaries({ env, print })
  const [kwok, evaluator] = [
    await findTool('kwok', env, print),
    await findTool('cue-evaluator', env, print),
  ]
  print(
    `starting etcd, kube-apiserver ${binaries.version}, its controllers and nodes without containers`,
  )
  const workloads = { kwok, podAddress: '127.0.0.1' }
  const plane = await startControlPlane({ binaries, workloads, print })
  try {
    if (signal.aborted) return
    print('installing the definitions, the accounts and the namespace of the sample')
    await install(plane, [...graphDefinitions(), ...graphManifests([HOME]), ...nodes()])
    const kubeconfig = loadKubeconfig(plane.kubeconfig)
    const client = await connect(kubeconfig)
    print('starting the webhook and the reconciler')
    const system = await startGraphSystem({
      client,
      kubeconfig,
      folder: join(plane.dataDir, 'graph'),
      entry: ENTRY,
      env: childEnvironment(env),
      evaluator,
    })
    try {
      const { webhook, reconciler } = system
      await until('the webhook judges', system, () => isJudged(client, HOME))
      await install(plane, manifestsIn(SAMPLE).map(inHome))
      print('applied the sample; waiting for it to be ready')
      await until('the sample is ready', system, () => isReady(client))
      print('ready')
      process.stdout.write(
        graphToTry({
          kubeconfig: plane.kubeconfig,
          builtKubectl: binaries.kubectl,
          path: env.PATH ?? '',
          logs: [webhook, reconciler].map((one) => one.child().logFile),
        }),
      )
      await untilEnd([webhook, reconciler], signal, print)
    } finally {
      print('stopping')
      await system.stop()
      await client.close()
    }
  } finally {
    await plane.stop()
  }
}

const inHome = (object: Manifest): Manifest => ({
  ...object,
  metadata: { ...object.metadata, namespace: HOME },
})

const nodes = () => loadManifests(NODES).filter(({ kind }) => kind === 'Node')

async function isReady(client: Client): Promise<boolean> {
  const { apiVersion, metadata } = manifestsIn(SAMPLE)[0] ?? {}
  const at = { apiVersion: apiVersion ?? '', resource: TRANSFORM.plural, namespace: HOME }
  const { body } = await client.send(pathOf(at, metadata?.name))
  const ready = (body as Transform).status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True'
}

async function until(
  what: string,
  { webhook, reconciler }: GraphSystem,
  isDone: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + READY_MS
  while (!(await isDone())) {
    for (const process of [webhook, reconciler]) requireRunning(process.child())
    if (performance.now() > deadline)
      throw new Error(
        `not so after ${READY_MS / 1000} s: ${what}; see ${reconciler.child().logFile} and ${webhook.child().logFile}`,
      )
    await sleep(POLL_MS)
  }
}
