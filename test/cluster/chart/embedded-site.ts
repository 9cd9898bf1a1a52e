import { mkdirSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { GRAPH } from '../../../src/shared/graph/names.ts'
import { install } from '../../../tools/control-plane/install.ts'
import { manifestsIn } from '../../../tools/control-plane/manifests.ts'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { writeAccountKubeconfig } from '../../../tools/dev/accounts.ts'
import { findTool } from '../../../tools/go-programs/tools.ts'
import { NAMESPACE } from '../../chart/helm.ts'
import type { Site } from '../../e2e/rehearsal.ts'
import { assembledImage, type Target } from '../../image/assembled.ts'
import { environment, type Scope, type TestCluster, testCluster } from '../harness/fixture.ts'
import type { Holdings } from '../harness/manifests.ts'
import { auditIn } from '../harness/plane/audit-policy.ts'
import { startBalancer } from '../rolling/balancer.ts'
import { startKubelet } from './kubelet.ts'

const NODES = join(import.meta.dirname, '../../samples/nodes.yaml')

/** The embedded control plane as a site to rehearse on: its pods are processes of this machine, and its nodes are played. */
export interface EmbeddedSite extends Site {
  readonly cluster: TestCluster
}

/** The namespaces whose pods run, and the images that they run. */
const RUNNING: Readonly<Record<string, Target>> = { [NAMESPACE]: 'baseline', [GRAPH.name]: 'graph' }

/** Starts an embedded control plane whose Deployments and Jobs run; it ends with its scope. */
export async function embeddedSite(
  t: Scope,
  holdings: Holdings,
  targets: readonly Target[] = ['baseline'],
): Promise<EmbeddedSite> {
  const print = (line: string) => t.comment(line)
  const [kwok, helm] = await Promise.all(
    (['kwok', 'helm'] as const).map((name) => findTool(name, environment(), print)),
  )
  const address = ownAddress()
  const namespaces = Object.keys(RUNNING).filter((name) =>
    targets.includes(RUNNING[name] ?? 'graph'),
  )
  const cluster = await testCluster(t, {
    ...holdings,
    auditPolicy: auditIn(NAMESPACE, GRAPH.name),
    // The API server goes to the pods' addresses itself, as no kube-proxy is there.
    apiserverFlags: ['--enable-aggregator-routing=true'],
    workloads: { kwok: kwok ?? '', podAddress: address, except: namespaces },
  })
  await install(cluster, manifestsIn(NODES))
  const access = loadKubeconfig(cluster.kubeconfig)
  const client = await connect(access)
  const ports = new Map<string, number>()
  const stops: (() => Promise<void>)[] = []
  for (const namespace of namespaces) {
    const folder = join(cluster.dataDir, 'pods', namespace)
    mkdirSync(folder, { recursive: true })
    const port = await freePort()
    ports.set(namespace, port)
    const account = { client, kubeconfig: access, namespace, folder }
    const stop = startKubelet({
      client,
      namespace,
      address,
      folder,
      image: assembledImage(t, RUNNING[namespace]),
      kubeconfigOf: (name) => writeAccountKubeconfig(account, name),
      balancer: await startBalancer(t, { host: address, port }),
      print,
    })
    stops.push(stop)
  }
  t.teardown(async () => {
    for (const stop of stops) await stop()
    await client.close()
  })
  // The API server keeps no quiet connections to the balancer for longer than a rehearsal takes.
  const webhookOf = (namespace: string) => ({
    port: ports.get(namespace),
    extraArgs: ['--shutdown-grace=5s'],
  })
  return {
    cluster,
    kubeconfig: cluster.kubeconfig,
    kubectl: cluster.binaries.kubectl,
    helm: helm ?? '',
    path: environment().PATH ?? '',
    folder: cluster.dataDir,
    values: {
      webhook: webhookOf(NAMESPACE),
      ...(ports.has(GRAPH.name) && { systems: { graph: { webhook: webhookOf(GRAPH.name) } } }),
    },
  }
}

/** An address of this machine that pods may have: no endpoint may be on the loopback interface. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (!found) throw new Error('this machine has no address but that of its loopback interface')
  return found.address
}
