import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Binaries } from '../go-programs/binaries.ts'
import { type Components, createComponents } from './components.ts'
import { createDataDir, writeFiles } from './data-dir.ts'
import {
  apiServerFlags,
  auditFlags,
  controllerManagerFlags,
  type EtcdPorts,
  etcdFlags,
  type Files,
  filesIn,
} from './flags.ts'
import {
  type Accounts,
  createAccounts,
  createKubeconfigs,
  PLATFORM_ADMINS,
  type User,
} from './kubeconfig.ts'
import { freePort, serve } from './ports.ts'
import { send } from './request.ts'
import { startWorkloads, type WorkloadsOptions } from './workloads.ts'

/** How to start a control plane. */
export interface ControlPlaneOptions {
  readonly binaries: Binaries
  /** Kept on stop; without it a temporary folder is made, and goes on stop. */
  readonly dataDir?: string
  /** The data folder of an etcd that was stopped: a copy of it is what this one starts with, unless it has data already. */
  readonly etcdData?: string
  /** Also runs kube-controller-manager: garbage collection, namespaces, aggregated roles. */
  readonly controllerManager?: boolean
  /** Also runs all controllers, kube-scheduler and KWOK: what is created of Deployments and Jobs rolls out, without containers. */
  readonly workloads?: Workloads
  /** An audit.k8s.io/v1 Policy: what is written to the audit log. */
  readonly auditPolicy?: object
  readonly apiserverFlags?: readonly string[]
  /** Told when a component ends by itself. */
  readonly print: (line: string) => void
}

/** What workloads need beside the control plane's own binaries. */
export type Workloads = Pick<WorkloadsOptions, 'kwok' | 'podAddress' | 'except'>

/** A running control plane. */
export interface ControlPlane {
  readonly url: string
  /** The certificate of the authority that signed the API server's. */
  readonly ca: string
  /** The token of the administrator: system:masters, which no RBAC stops. */
  readonly token: string
  /** Everybody who has a token, the administrator first. */
  readonly accounts: Accounts
  /** The path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  readonly dataDir: string
  readonly auditLog: string
  /** Where etcd answers, without credentials. */
  readonly etcdUrl: string
  /** The process id of each component that runs. */
  readonly pids: Readonly<Record<string, number>>
  /** The path of a kubeconfig: alice and gitops have tokens, anyone else is impersonated. */
  kubeconfigFor(user: User): string
  /** Kills the API server, as a machine that fails would. */
  stopApiServer(): Promise<void>
  /** Starts it again, on the same port and data. */
  startApiServer(): Promise<void>
  /** Ends everything and removes the temporary folder; calling it again does no harm. */
  stop(): Promise<void>
}

const PROBE_MS = 5_000

interface Run extends ControlPlaneOptions {
  readonly files: Files
  readonly components: Components
}

/** Starts etcd, kube-apiserver and, if asked, kube-controller-manager; settles when they serve. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const data = createDataDir(options.dataDir)
  const components = createComponents(data.path, options.print)
  const run = { ...options, dataDir: data.path, files: filesIn(data.path), components }
  const stop = async () => {
    await components.killAll()
    data.remove()
  }
  try {
    return await start(run, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(run: Run & { dataDir: string }, stop: () => Promise<void>) {
  const { components, dataDir, files } = run
  const accounts = createAccounts()
  const { token } = accounts[0]
  writeFiles(files, accounts, run.auditPolicy)
  const etcd = await startEtcd(run, dataDir)
  const startServer = (port: () => Promise<number>) => startApiServer(run, etcd, token, port)
  const port = await startServer(freePort)
  const url = `https://127.0.0.1:${port}`
  const ca = authorityOf(files)
  const kubeconfigFor = createKubeconfigs({ dataDir, url, ca, accounts })
  await letPlatformAdminsIn(url, ca, token)
  const kubeconfig = kubeconfigFor(accounts[0])
  if (run.controllerManager || run.workloads) startControllerManager({ ...run, kubeconfig })
  if (run.workloads) await startScheduled(run, kubeconfig, run.workloads)
  return {
    url,
    ca,
    token,
    accounts,
    kubeconfig,
    kubeconfigFor,
    dataDir,
    auditLog: files.auditLog,
    etcdUrl: `http://127.0.0.1:${etcd.client}`,
    get pids() {
      return components.pids()
    },
    stopApiServer: () => components.kill('kube-apiserver'),
    async startApiServer() {
      await startServer(async () => port)
    },
    stop,
  }
}

async function startEtcd(
  { binaries, components, etcdData }: Run,
  dataDir: string,
): Promise<EtcdPorts> {
  const own = join(dataDir, 'etcd')
  if (etcdData !== undefined && !existsSync(own)) cpSync(etcdData, own, { recursive: true })
  const name = randomBytes(8).toString('hex')
  const { process, ports } = await serve({
    async ports() {
      const [client, peer] = await Promise.all([freePort(), freePort()])
      return { client, peer }
    },
    start: (etcd) => components.start('etcd', binaries.etcd, etcdFlags(name, dataDir, etcd)),
    // By its name: on a port that was taken meanwhile, someone else's would answer.
    async isReady({ client }) {
      const members = `http://127.0.0.1:${client}/v3/cluster/member/list`
      const { text } = await send(members, { method: 'POST', body: {}, timeoutMs: PROBE_MS })
      return text.includes(`"name":"${name}"`)
    },
  })
  components.watch(process)
  return ports
}

async function startApiServer(
  { binaries, components, files, auditPolicy, apiserverFlags = [] }: Run,
  etcd: EtcdPorts,
  token: string,
  port: () => Promise<number>,
): Promise<number> {
  const { process, ports } = await serve({
    ports: port,
    start: (port) =>
      components.start('kube-apiserver', binaries.apiserver, [
        ...apiServerFlags(files, etcd, port),
        ...(auditPolicy ? auditFlags(files) : []),
        ...apiserverFlags,
      ]),
    async isReady(port) {
      const url = `https://127.0.0.1:${port}/readyz`
      return (
        (await send(url, { ca: authorityOf(files), token, timeoutMs: PROBE_MS })).status === 200
      )
    },
  })
  components.watch(process)
  return ports
}

type ControllerManagerOptions = Pick<Run, 'binaries' | 'components' | 'files' | 'workloads'> & {
  /** The administrator's. */
  readonly kubeconfig: string
}

/** Starts kube-controller-manager on an API server that has these files. */
export function startControllerManager({
  binaries,
  components,
  files,
  kubeconfig,
  workloads,
}: ControllerManagerOptions): void {
  const { controllerManager } = binaries
  if (!controllerManager)
    throw new Error('starting kube-controller-manager: KUBEBUILDER_ASSETS has none')
  const flags = controllerManagerFlags(files, kubeconfig, workloads !== undefined)
  components.watch(components.start('kube-controller-manager', controllerManager, flags))
}

async function startScheduled(
  { binaries: { scheduler }, components, files }: Run,
  kubeconfig: string,
  workloads: Workloads,
): Promise<void> {
  if (!scheduler) throw new Error('starting kube-scheduler: KUBEBUILDER_ASSETS has none')
  const { stages } = files
  await startWorkloads(components, { scheduler, kubeconfig, stages, ...workloads })
}

// The API server makes its own authority and writes it behind its certificate.
function authorityOf({ certificates }: Files): string {
  const chain = readFileSync(join(certificates, 'apiserver.crt'), 'utf8')
  return chain.slice(chain.lastIndexOf('-----BEGIN'))
}

async function letPlatformAdminsIn(url: string, ca: string, token: string): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io'
  const { status, text } = await send(`${url}/apis/${rbac}/v1/clusterrolebindings`, {
    method: 'POST',
    ca,
    token,
    body: {
      metadata: { name: PLATFORM_ADMINS },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: PLATFORM_ADMINS }],
    },
  })
  if (status !== 201 && status !== 409) throw new Error(`binding ${PLATFORM_ADMINS}: ${text}`)
}
