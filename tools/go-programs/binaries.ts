import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Env } from '../../src/shared/ops/env.ts'
import { kubernetesVersion } from './build.ts'
import { builtProgram } from './cache.ts'
import type { GoProgram } from './module.ts'

/** The absolute paths of a control plane's programs, and the version of its API server. */
export interface Binaries {
  readonly etcd: string
  readonly apiserver: string
  /** These two are undefined only if they were not asked for and KUBEBUILDER_ASSETS, envtest's for one, has none. */
  readonly controllerManager: string | undefined
  readonly scheduler: string | undefined
  readonly kubectl: string
  readonly version: string
}

/** Where to look for programs, and which. */
export interface BinariesOptions {
  /** KUBEBUILDER_ASSETS, XDG_CACHE_HOME, HOME, PATH, and what else Go reads. */
  readonly env: Env
  /** Told what takes long. */
  readonly print: (line: string) => void
  /** Whether kube-controller-manager and kube-scheduler are needed; they are, unless this is false. */
  readonly controllers?: boolean
}

/** The names that one binary goes by. */
const COMPONENTS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
] as const
type Component = (typeof COMPONENTS)[number]
type Paths = Partial<Record<Component, string>>

const CONTROLLERS: readonly Component[] = ['kube-controller-manager', 'kube-scheduler']
const CONTROL_PLANE: GoProgram = {
  name: 'control-plane',
  aliases: COMPONENTS,
  title: 'the control plane',
  takes: '5 minutes',
  way: 'set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl',
}
const OLDEST = [1, 30] as const

/** The programs in KUBEBUILDER_ASSETS, and for those it lacks the ones built from tools/go. */
export async function findBinaries(options: BinariesOptions): Promise<Binaries> {
  const { env, print, controllers = true } = options
  const given = env.KUBEBUILDER_ASSETS ? programsIn(resolve(env.KUBEBUILDER_ASSETS)) : {}
  const server = given['kube-apiserver']
  const givenVersion = server && (await serverVersion(server))
  const needed = COMPONENTS.filter((name) => controllers || !CONTROLLERS.includes(name))
  const missing = needed.filter((name) => !given[name])
  if (missing.length === 0) return binariesAt(given, givenVersion ?? '')
  if (env.KUBEBUILDER_ASSETS)
    print(`KUBEBUILDER_ASSETS has no ${missing.join(', ')}: using what is built here`)
  const folder = dirname(await builtProgram(CONTROL_PLANE, env, print))
  const built = Object.fromEntries(COMPONENTS.map((name) => [name, join(folder, name)]))
  return binariesAt({ ...built, ...given }, givenVersion ?? kubernetesVersion())
}

function binariesAt(paths: Paths, version: string): Binaries {
  const { etcd = '', 'kube-apiserver': apiserver = '', kubectl = '' } = paths
  const [controllerManager, scheduler] = CONTROLLERS.map((name) => paths[name])
  return { etcd, apiserver, kubectl, controllerManager, scheduler, version }
}

function programsIn(folder: string): Paths {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`KUBEBUILDER_ASSETS: ${folder} is not a folder`)
  const paths = COMPONENTS.map((name) => [name, join(folder, name)] as const)
  return Object.fromEntries(paths.filter(([, path]) => isProgram(path)))
}

function isProgram(path: string): boolean {
  if (!existsSync(path)) return false
  accessSync(path, constants.X_OK) // there but not to be run: a mistake to tell
  return true
}

async function serverVersion(path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version'])
  const [, version = '', major, minor] = /v((\d+)\.(\d+)\.\S+)/.exec(stdout) ?? []
  const isOld = Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]
  if (!version || isOld)
    throw new Error(
      `KUBEBUILDER_ASSETS: ${path} is Kubernetes ${version || 'of no known version'}, and ${OLDEST.join('.')} or newer is needed`,
    )
  return version
}
