import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { type Leashed, spawnLeashed } from '../../../tools/control-plane/processes.ts'
import { writeAccountKubeconfig } from '../../../tools/dev/accounts.ts'
import { findTool } from '../../../tools/go-programs/tools.ts'
import { CHART, NAMESPACE, type Values } from '../../chart/helm.ts'
import type { Loose } from '../../chart/pods.ts'
import { auditIn } from '../harness/audit.ts'
import { ENTRY } from '../harness/autopilot-fixture.ts'
import { environment, type Scope, type TestCluster, testCluster } from '../harness/fixture.ts'

const RELEASE = 'virt-platform-autopilot'

/** A cluster whose Deployments roll out, with a helm for it, and processes for what the pods are said to run. */
export interface ChartCluster extends TestCluster {
  /** Where the webhook of the chart is to listen: one port of this machine for all replicas. */
  readonly webhookPort: number
  /** Runs a command of helm's on the release: `install`, `get hooks` and so on. */
  helm(command: string, args?: readonly string[], values?: Values): Promise<string>
  /** Runs what the pods of a Deployment or Job would, once, with the account of these pods. */
  runPod(object: Loose): Promise<Leashed>
}

/** Starts a cluster that a chart can be installed on. */
export async function chartCluster(t: Scope): Promise<ChartCluster> {
  const print = (line: string) => t.comment(line)
  const [kwok, helm] = await Promise.all(
    (['kwok', 'helm'] as const).map((name) => findTool(name, environment(), print)),
  )
  const cluster = await testCluster(t, {
    auditPolicy: auditIn(NAMESPACE),
    // The API server goes to the pods' addresses itself, as no kube-proxy is there.
    apiserverFlags: ['--enable-aggregator-routing=true'],
    workloads: { kwok: kwok ?? '', podAddress: ownAddress() },
  })
  const folder = join(cluster.dataDir, 'pods')
  mkdirSync(folder)
  const kubeconfig = loadKubeconfig(cluster.kubeconfig)
  const client = await connect(kubeconfig)
  t.teardown(() => client.close())
  await cluster.admin('POST', '/api/v1/nodes', ROOMY)
  return Object.assign(cluster, {
    webhookPort: await freePort(),
    async helm(command: string, args: readonly string[] = [], values: Values = {}) {
      const isRendered = ['install', 'upgrade'].includes(command)
      const chart = isRendered ? [CHART, '--values=-'] : []
      const all = [...command.split(' '), RELEASE, ...chart, `--namespace=${NAMESPACE}`, ...args]
      const running = promisify(execFile)(helm ?? '', all, {
        env: {
          PATH: environment().PATH,
          HOME: join(cluster.dataDir, 'home'),
          KUBECONFIG: cluster.kubeconfig,
        },
      })
      running.child.stdin?.on('error', () => undefined).end(JSON.stringify(values))
      return (await running).stdout
    },
    async runPod({ metadata, spec }: Loose) {
      const pod = spec.template.spec
      const [container] = pod.containers
      const KUBECONFIG = await writeAccountKubeconfig(
        { client, kubeconfig, namespace: NAMESPACE, folder },
        pod.serviceAccountName,
      )
      const env = Object.fromEntries(
        (container.env ?? []).map(({ name, value }: Loose) => [name, value]),
      )
      const child = spawnLeashed({
        name: metadata.name,
        file: process.execPath,
        args: [ENTRY, ...container.args],
        cwd: folder,
        // Beside what the chart says: in place of the files by which a pod knows its cluster.
        env: { ...env, KUBECONFIG },
        logFile: join(folder, `${metadata.name}.log`),
      })
      t.teardown(child.kill)
      return child
    },
  })
}

// The sample nodes do not say how much room they have.
const ROOMY = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'roomy' },
  status: Object.fromEntries(
    ['capacity', 'allocatable'].map((name) => [name, { cpu: '8', memory: '16Gi', pods: '110' }]),
  ),
}

/** An address of this machine that pods may have: no endpoint may be on the loopback interface. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (!found) throw new Error('this machine has no address but that of its loopback interface')
  return found.address
}
