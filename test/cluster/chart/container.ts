import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../../src/shared/cluster/client.ts'
import { read } from '../../../src/shared/cluster/resource.ts'
import { freePort } from '../../../tools/control-plane/ports.ts'
import { type Leashed, spawnLeashed } from '../../../tools/control-plane/processes.ts'
import type { Loose } from '../../chart/pods.ts'
import type { AssembledImage } from '../../image/assembled.ts'
import { until } from '../harness/until.ts'

/** What the containers of one namespace are run with. */
export interface ContainerOptions {
  readonly client: Client
  readonly namespace: string
  /** Where mounts and logs are. */
  readonly folder: string
  /** What the image runs, and the variables that it has. */
  readonly image: Pick<AssembledImage, 'command' | 'env'>
  /** What stands for the token that is mounted into a pod: the path of a kubeconfig of its account. */
  readonly kubeconfigOf: (account: string) => Promise<string>
}

/** A container that runs as a process of this machine. */
export interface Container {
  readonly process: Leashed
  /** The ports that it listens on, by the names that they have in the pod. */
  readonly ports: Readonly<Record<string, number>>
}

const LISTEN_FLAGS: Readonly<Record<string, string>> = {
  admission: '--listen',
  ops: '--ops-listen',
}

/**
 * Starts the one container of a pod, with its arguments, its environment and the files that are mounted into it. Two things are its
 * own: ports, since all pods share those of this machine, and in place of the files by which a pod knows its cluster a kubeconfig.
 */
export async function startContainer(options: ContainerOptions, pod: Loose): Promise<Container> {
  const { folder, image, kubeconfigOf } = options
  const [file, ...entry] = image.command
  const { metadata, spec } = pod
  const [container] = spec.containers
  const cwd = join(folder, metadata.name)
  mkdirSync(cwd)
  const [mounts, KUBECONFIG, ports] = await Promise.all([
    mount(options, pod, cwd),
    kubeconfigOf(spec.serviceAccountName),
    portsOf(container),
  ])
  const inFolders = (text: string) =>
    mounts.reduce((before, [path, place]) => before.replace(path, place), text)
  const listening = Object.entries(ports).map(
    ([name, port]) => `${LISTEN_FLAGS[name]}=127.0.0.1:${port}`,
  )
  const env = (container.env ?? []).map(({ name, value }: Loose) => [name, value])
  const process = spawnLeashed({
    name: metadata.name,
    file,
    args: [...entry, ...container.args.map(inFolders), ...listening],
    cwd,
    env: { ...image.env, ...Object.fromEntries(env), KUBECONFIG },
    logFile: join(cwd, 'log'),
  })
  return { process, ports }
}

async function portsOf({ ports = [] }: Loose): Promise<Container['ports']> {
  const free = ports.map(async ({ name }: Loose) => [name, await freePort()])
  return Object.fromEntries(await Promise.all(free))
}

/** Writes the Secrets and ConfigMaps that a pod mounts, once they are there; gives each path with the folder that stands for it. */
async function mount(
  { client, namespace }: ContainerOptions,
  { spec }: Loose,
  cwd: string,
): Promise<readonly (readonly [string, string])[]> {
  const mounts = spec.containers[0].volumeMounts ?? []
  const volumes = spec.volumes.filter(({ secret, configMap }: Loose) => secret ?? configMap)
  return Promise.all(
    volumes.map(async ({ name, secret, configMap }: Loose) => {
      const { mountPath } = mounts.find((one: Loose) => one.name === name)
      const resource = secret ? 'secrets' : 'configmaps'
      const source: string = secret?.secretName ?? configMap.name
      const at = { apiVersion: 'v1', resource, namespace }
      const { data }: Loose = await until(`there is ${source}`, () => read(client, at, source))
      const place = join(cwd, name)
      mkdirSync(place)
      for (const [key, value] of Object.entries<string>(data))
        writeFileSync(join(place, key), secret ? Buffer.from(value, 'base64') : value)
      return [mountPath, place] as const
    }),
  )
}
