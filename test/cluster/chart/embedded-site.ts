import { mkdirSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { install } from '../../../tools/control-plane/install.ts'
import { manifestsIn } from '../../../tools/control-plane/manifests.ts'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { writeAccountKubeconfig } from '../../../tools/dev/accounts.ts'
import { findTool } from '../../../tools/go-programs/tools.ts'
import { NAMESPACE } from '../../chart/helm.ts'
import type { Site } from '../../e2e/rehearsal.ts'
import { assembledImage } from '../../image/assembled.ts'
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

/** Starts an embedded control plane whose Deployments and Jobs run; it ends with its scope. */
export async function embeddedSite(t: Scope, holdings: Holdings): Promise<EmbeddedSite> {
  const print = (line: string) => t.comment(line)
  const [kwok, helm] = await Promise.all(
    (['kwok', 'helm'] as const).map((name) => findTool(name, environment(), print)),
  )
  const address = ownAddress()
  const cluster = await testCluster(t, {
    ...holdings,
    auditPolicy: auditIn(NAMESPACE),
    // The API server goes to the pods' addresses itself, as no kube-proxy is there.
    apiserverFlags: ['--enable-aggregator-routing=true'],
    workloads: { kwok: kwok ?? '', podAddress: address, except: NAMESPACE },
  })
  await install(cluster, manifestsIn(NODES))
  const { kubeconfig } = cluster
  const access = loadKubeconfig(kubeconfig)
  const client = await connect(access)
  const folder = join(cluster.dataDir, 'pods')
  mkdirSync(folder)
  const port = await freePort()
  const account = { client, kubeconfig: access, namespace: NAMESPACE, folder }
  const stop = startKubelet({
    client,
    namespace: NAMESPACE,
    address,
    folder,
    command: assembledImage(t).command,
    kubeconfigOf: (name) => writeAccountKubeconfig(account, name),
    balancer: await startBalancer(t, { host: address, port }),
    print,
  })
  t.teardown(async () => {
    await stop()
    await client.close()
  })
  return {
    cluster,
    kubeconfig,
    kubectl: cluster.binaries.kubectl,
    helm: helm ?? '',
    path: environment().PATH ?? '',
    folder: cluster.dataDir,
    // The API server keeps no quiet connections to the balancer for longer than a rehearsal takes.
    values: { webhook: { port, extraArgs: ['--shutdown-grace=5s'] } },
  }
}

/** An address of this machine that pods may have: no endpoint may be on the loopback interface. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (!found) throw new Error('this machine has no address but that of its loopback interface')
  return found.address
}
