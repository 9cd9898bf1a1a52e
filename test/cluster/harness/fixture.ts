import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Env } from '../../../src/shared/ops/env.ts'
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../../../tools/control-plane/control-plane.ts'
import { install, untilServed } from '../../../tools/control-plane/install.ts'
import type { User } from '../../../tools/control-plane/kubeconfig.ts'
import { send } from '../../../tools/control-plane/request.ts'
import { type Binaries, findBinaries } from '../../../tools/go-programs/binaries.ts'
import { type Counts, countsOf } from './calls.ts'
import { type Holdings, manifestsOf } from './manifests.ts'
import { AUDIT_POLICY } from './plane/audit-policy.ts'
import { preparedData } from './plane/prepared-data.ts'
import { SHARED_PLANE, useSharedPlane } from './plane/shared-plane.ts'

/** What ends with a test file: tap's `t`. */
export interface Scope {
  teardown(end: () => Promise<void>): void
  comment(line: string): void
}

/** What a test's cluster has: a control plane's options, and what is installed in it. */
export interface TestClusterOptions
  extends Partial<Omit<ControlPlaneOptions, 'binaries' | 'print' | 'etcdData'>>,
    Holdings {
  /** Starts on an empty etcd: where the first start of a control plane is the subject. */
  readonly isFirstStart?: boolean
  /** Never shares a control plane: where its API server is stopped, or its processes are looked at. */
  readonly isOwn?: boolean
  /** Has the API server write down what tests ask about; a control plane that is shared does so anyhow. */
  readonly isAudited?: boolean
}

/** How kubectl ended, and what it said. */
export interface Said {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Who runs kubectl (admin by default), what it reads, and what its environment has besides. */
export interface KubectlOptions {
  readonly user?: User
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The answer to a request. */
export interface Answer<Body> {
  readonly status: number
  readonly body: Body
}

/** A control plane for the tests of one file. */
export interface TestCluster extends ControlPlane {
  readonly binaries: Binaries
  /** What the API server had counted of its calls to our webhooks before this test. */
  readonly callsBefore: Counts
  /** How long its audit log was before this test. */
  readonly auditStart: number
  /** Runs the real kubectl, with a home and caches of its own. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<Said>
  /** Sends a request as the administrator. */
  admin<Body = unknown>(
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
  ): Promise<Answer<Body>>
}

/**
 * A cluster that ends with the test: the real API server, with definitions and samples. Where nothing else is asked for it is the
 * one that the runner keeps, as it was at its start; a second at the same time is the file's own.
 */
export async function testCluster(
  t: Scope,
  { controllerManager = false, isAudited = false, ...rest }: TestClusterOptions = {},
): Promise<TestCluster> {
  const controllers = controllerManager || rest.workloads !== undefined
  const print = (line: string) => t.comment(line)
  const binaries = await findBinaries({ env: environment(), print, controllers })
  const isPlain = Object.values(rest).every((value) => value === undefined)
  const shared = isPlain ? takeSharedPlane() : undefined
  const options = { controllerManager, binaries, print }
  const plane = await (shared
    ? useSharedPlane(shared, options)
    : startOwn({ ...(isAudited && { auditPolicy: AUDIT_POLICY }), ...rest, ...options }))
  t.teardown(async () => {
    await plane.stop()
    if (shared) isTaken = false
  })
  const admin = async (method: string, path: string, body?: unknown, contentType?: string) => {
    const { url, ca, token } = plane
    const type = contentType && { contentType }
    const { status, text } = await send(url + path, { method, ca, token, body, ...type })
    return { status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  return Object.assign(plane, {
    binaries,
    callsBefore: shared ? await countsOf({ admin }) : {},
    auditStart: shared ? statSync(plane.auditLog).size : 0,
    kubectl: createKubectl(plane, binaries),
    admin,
  })
}

let isTaken = false

function takeSharedPlane(): string | undefined {
  if (isTaken) return undefined
  isTaken = true
  return environment()[SHARED_PLANE]
}

type OwnOptions = Omit<TestClusterOptions, 'isAudited'> &
  Pick<ControlPlaneOptions, 'binaries' | 'print'>

async function startOwn({ isFirstStart = false, ...rest }: OwnOptions): Promise<ControlPlane> {
  const hasDefaults = (rest.crds ?? true) === true && rest.samples !== false
  const { etcdData, types } = await preparedData(
    hasDefaults ? 'installed' : 'empty',
    rest.binaries,
    rest.print,
  )
  const starting = startControlPlane({
    ...rest,
    ...(!isFirstStart && { etcdData }),
  })
  const isInstalled = hasDefaults && !isFirstStart
  const manifests = isInstalled ? [] : manifestsOf(rest) // meanwhile
  const plane = await starting
  try {
    if (isInstalled) await untilServed(plane, types)
    else await install(plane, manifests)
    return plane
  } catch (error) {
    await plane.stop()
    throw error
  }
}

/** The environment that the tests were started in. */
export function environment(): Env {
  // biome-ignore lint/style/noProcessEnv: the one place of the tests; the product's is main.ts
  return process.env
}

function createKubectl(plane: ControlPlane, { kubectl }: Binaries): TestCluster['kubectl'] {
  const home = join(plane.dataDir, 'home')
  mkdirSync(home)
  return async (args, { user, input = '', env = {} } = {}) => {
    const kubeconfig = user ? plane.kubeconfigFor(user) : plane.kubeconfig
    const child = spawn(kubectl, ['--kubeconfig', kubeconfig, ...args], {
      cwd: home,
      // What kubectl leaves behind, as a refused edit, goes with the cluster.
      env: { PATH: environment().PATH, HOME: home, TMPDIR: home, ...env },
    })
    // Whoever fails at once reads nothing.
    child.stdin.on('error', () => undefined).end(input)
    const closed = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = await closed
    return { code, stdout, stderr }
  }
}
