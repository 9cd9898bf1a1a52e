import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createComponents } from '../../../../tools/control-plane/components.ts'
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControllerManager,
  startControlPlane,
} from '../../../../tools/control-plane/control-plane.ts'
import { createDataDir } from '../../../../tools/control-plane/data-dir.ts'
import { filesIn } from '../../../../tools/control-plane/flags.ts'
import { type TypeMeta, untilServed } from '../../../../tools/control-plane/install.ts'
import { type Accounts, createKubeconfigs } from '../../../../tools/control-plane/kubeconfig.ts'
import { send } from '../../../../tools/control-plane/request.ts'
import type { Binaries } from '../../../../tools/go-programs/binaries.ts'
import { AUDIT_POLICY } from './audit-policy.ts'
import { preparedData } from './prepared-data.ts'

// One control plane for many test files, one after the other: to start an API server takes as much of a processor as a short
// file needs for itself. The runner starts it and keeps it; each file first puts everything back that the one before left.

/** A control plane that the runner keeps, as a test file finds it in its environment. */
interface SharedPlane {
  readonly url: string
  readonly ca: string
  readonly accounts: Accounts
  readonly etcdUrl: string
  /** Where the API server has its files. */
  readonly dataDir: string
  /** What etcd held before any test: value by key, both in base64. */
  readonly data: Readonly<Record<string, string>>
  /** The custom kinds in it. */
  readonly types: readonly TypeMeta[]
}

/** The environment variable that names the file in which a shared control plane is described. */
export const SHARED_PLANE = 'AUTOPILOT_SHARED_CONTROL_PLANE'

/** Starts a control plane with the default definitions and samples, and describes it in a file. */
export async function startSharedPlane(binaries: Binaries, print: (line: string) => void) {
  const { etcdData, types } = await preparedData('installed', binaries, print)
  const auditPolicy = AUDIT_POLICY
  const plane = await startControlPlane({ binaries, etcdData, auditPolicy, print })
  const { url, ca, accounts, etcdUrl, dataDir } = plane
  const file = join(dataDir, 'shared.json')
  const data = Object.fromEntries(await readAll(etcdUrl))
  const shared: SharedPlane = { url, ca, accounts, etcdUrl, dataDir, data, types }
  writeFileSync(file, JSON.stringify(shared))
  return { file, stop: plane.stop }
}

type UseOptions = Pick<ControlPlaneOptions, 'binaries' | 'controllerManager' | 'print'>

/**
 * A shared control plane as it was before any test; `stop` leaves it to the next file. One thing is not put back: the API server
 * goes on publishing the schema of a version that a definition had meanwhile, so that who changes definitions asks for `isOwn`.
 */
export async function useSharedPlane(
  file: string,
  { binaries, controllerManager, print }: UseOptions,
): Promise<ControlPlane> {
  const shared = JSON.parse(readFileSync(file, 'utf8')) as SharedPlane
  const { url, ca, accounts, etcdUrl } = shared
  await putBack(etcdUrl, new Map(Object.entries(shared.data)))
  const { token } = accounts[0]
  await untilServed({ url, ca, token }, shared.types)
  const { path: dataDir, remove } = createDataDir()
  const kubeconfigFor = createKubeconfigs({ dataDir, url, ca, accounts })
  const kubeconfig = kubeconfigFor(accounts[0])
  const files = filesIn(shared.dataDir)
  const components = createComponents(dataDir, print)
  if (controllerManager) startControllerManager({ binaries, components, files, kubeconfig })
  const keep = async () => {
    throw new Error('the control plane is shared: a test that stops its parts asks for `isOwn`')
  }
  return {
    url,
    ca,
    token,
    accounts,
    etcdUrl,
    kubeconfig,
    kubeconfigFor,
    dataDir,
    auditLog: files.auditLog,
    pids: {},
    stopApiServer: keep,
    startApiServer: keep,
    async stop() {
      await components.killAll()
      remove()
    },
  }
}

// Kept by the API server for itself, and new with each of its starts or minutes.
const ITS_OWN = [
  '/registry/leases/kube-system/',
  '/registry/masterleases/',
  '/registry/peerserverleases/',
  'compact_rev_key',
]

async function putBack(etcdUrl: string, wanted: ReadonlyMap<string, string>): Promise<void> {
  const present = await readAll(etcdUrl)
  // One by one: the API server expects every change to have a revision of its own.
  for (const key of present.keys()) if (!wanted.has(key)) await ask(etcdUrl, 'deleterange', { key })
  for (const [key, value] of wanted)
    if (present.get(key) !== value) await ask(etcdUrl, 'put', { key, value })
}

async function readAll(etcdUrl: string): Promise<ReadonlyMap<string, string>> {
  const all = Buffer.of(0).toString('base64')
  const { kvs } = await ask<{ kvs: readonly { key: string; value: string }[] }>(etcdUrl, 'range', {
    key: all,
    range_end: all,
  })
  const isItsOwn = (key: string) => {
    const path = Buffer.from(key, 'base64').toString()
    return ITS_OWN.some((start) => path.startsWith(start))
  }
  return new Map(kvs.filter(({ key }) => !isItsOwn(key)).map(({ key, value }) => [key, value]))
}

async function ask<Body>(etcdUrl: string, verb: string, body: object): Promise<Body> {
  const { status, text } = await send(`${etcdUrl}/v3/kv/${verb}`, { method: 'POST', body })
  if (status !== 200) throw new Error(`asking etcd for ${verb}: ${status} ${text}`)
  return JSON.parse(text) as Body
}
