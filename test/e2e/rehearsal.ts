import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { type Client, connect } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import { CHART, NAMESPACE, type Values } from '../chart/helm.ts'
import type { Loose } from '../chart/pods.ts'
import { until } from '../cluster/harness/until.ts'

/** A cluster to rehearse on, and the programs to do it with: all that differs from one to another. */
export interface Site {
  /** The path of an administrator's. */
  readonly kubeconfig: string
  /** The paths of the programs. */
  readonly kubectl: string
  readonly helm: string
  /** What the chart is told of this cluster, such as where its image is. */
  readonly values: Values
  /** Where the rehearsal may write. */
  readonly folder: string
  /** What the programs' environment has. */
  readonly path: string
}

/** What a program printed. */
export interface Said {
  readonly stdout: string
  readonly stderr: string
}

/** A cluster as the steps of a rehearsal see it. */
export interface Rehearsal {
  readonly client: Client
  /** Whether the cluster has no HyperConverged and no API for one, so that the rehearsal brings both. */
  readonly isBare: boolean
  /** What the chart is installed with. */
  readonly values: Values
  /** Where the rehearsal may write. */
  readonly folder: string
  /** Runs kubectl; rejects where it fails. */
  kubectl(...args: readonly string[]): Promise<Said>
  /** Runs a command line as a person pastes it, with that kubectl. */
  shell(line: string): Promise<Said>
  /** Runs a command of helm's on our release, with values for those that render the chart. */
  helm(command: string, args: readonly string[], values?: Values): Promise<Said>
  /** Reads an object; undefined where there is none. */
  read(path: string): Promise<Loose>
  /** Patches an object as the administrator; what the API server refuses is an answer, too. */
  patch(path: string, patch: object, query?: Query): Promise<Answer>
  close(): Promise<void>
}

export type Query = Readonly<Record<string, string | boolean>>

/** The answer to a write. */
export interface Answer {
  readonly status: number
  /** The object, or what was refused and why. */
  readonly body: Loose
}

/** Our release, and its namespace. */
const RELEASE = 'virt-platform-autopilot'
// A rehearsal waits for images, nodes and rollouts; nothing of it takes minutes otherwise.
const PATIENCE_MS = 300_000

/** Waits for a condition as long as a cluster may need. */
export const eventually = <Found>(
  what: string,
  look: () => Promise<Found | undefined | false>,
): Promise<Found> => until(what, look, PATIENCE_MS)

/** Connects to a cluster. */
export async function openRehearsal(site: Site): Promise<Rehearsal> {
  const { kubeconfig, folder } = site
  const client = await connect(loadKubeconfig(kubeconfig), 'rehearsal')
  const { body: groups } = await client.send('/apis')
  const isBare = !(groups as Loose).groups.some(({ name }: Loose) => name === 'hco.kubevirt.io')
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const env = {
    PATH: `${dirname(site.kubectl)}:${site.path}`,
    HOME: home,
    TMPDIR: home,
    KUBECONFIG: kubeconfig,
  }
  const run = promisify(execFile)
  const send = (method: 'GET' | 'PATCH', path: string, input: object = {}) =>
    client.send(path, { method, ...input }).then(
      ({ status, body }): Answer => ({ status, body }),
      (error: Error & { status?: number }): Answer => {
        if (error.status === undefined) throw error
        return { status: error.status, body: { message: error.message } }
      },
    )
  return {
    client,
    isBare,
    folder,
    values: {
      activation: 'on',
      // Nobody's nodes reboot for a rehearsal, but those that are made for it.
      disruptiveChanges: isBare ? 'apply' : 'hold',
      // A machine that plays a whole cluster stands still for a second now and then.
      reconciler: { extraArgs: ['--webhook-timeout=10'] },
    },
    kubectl: (...args) => run(site.kubectl, args, { env, cwd: home, maxBuffer: OUTPUT }),
    async shell(line) {
      const child = spawn('/bin/sh', ['-c', line], { env, cwd: home })
      child.stdin.end()
      const closed = once(child, 'close')
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      const [code] = await closed
      if (code !== 0) throw new Error(`${line}\nexit code ${code}: ${stderr}`)
      return { stdout, stderr }
    },
    async helm(command, args, values) {
      const files = [values ?? {}, site.values].map((one, index) => {
        const file = join(home, `values-${index}.json`)
        writeFileSync(file, JSON.stringify(one))
        return `--values=${file}`
      })
      const chart = values ? [CHART, ...files] : []
      const all = [command, RELEASE, ...chart, `--namespace=${NAMESPACE}`, ...args]
      return run(site.helm, all, { env, cwd: home, maxBuffer: OUTPUT })
    },
    async read(path) {
      const { status, body } = await send('GET', path)
      if (status === 404) return undefined
      if (status !== 200) throw new Error(body.message)
      return body
    },
    patch: (path, patch, query = {}) =>
      send('PATCH', path, {
        body: patch,
        query,
        contentType: Array.isArray(patch)
          ? 'application/json-patch+json'
          : 'kind' in patch
            ? 'application/apply-patch+yaml'
            : 'application/merge-patch+json',
      }),
    close: () => client.close(),
  }
}

const OUTPUT = 64 * 1024 * 1024
