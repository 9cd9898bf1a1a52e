import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, Run } from './engine.ts'

/** What it takes to make a cluster. */
export interface KindOptions {
  /** The path of the program. */
  readonly kind: string
  readonly engine: Engine
  readonly run: Run
  readonly name: string
  /** Where the cluster's kubeconfig and the image are written. */
  readonly folder: string
  /** The version of the program, which its image bears. */
  readonly version: string
}

/** A cluster of nodes in containers, on which our image is. */
export interface KindCluster {
  readonly kubeconfig: string
  /** What the chart is told of the image. */
  readonly image: Readonly<Record<'repository' | 'tag' | 'pullPolicy', string>>
  readonly remove: () => Promise<void>
}

// Workers to roll: nothing of ours runs beside the control plane.
const CONFIGURATION = {
  kind: 'Cluster',
  apiVersion: 'kind.x-k8s.io/v1alpha4',
  nodes: ['control-plane', 'worker', 'worker'].map((role) => ({ role })),
}

/** Makes a cluster, builds our image and loads it; where one of them fails, the cluster goes again. */
export async function createKindCluster(options: KindOptions): Promise<KindCluster> {
  const { kind, engine, run, name, folder, version } = options
  const [config, archive, kubeconfig] = ['kind.json', 'image.tar', 'kubeconfig'].map((file) =>
    join(folder, file),
  ) as [string, string, string]
  const remove = () =>
    run(kind, ['delete', 'cluster', `--name=${name}`, `--kubeconfig=${kubeconfig}`])
  // Podman says of what was built here that it was.
  const repository = `${engine === 'podman' ? 'localhost/' : ''}virt-platform-autopilot`
  writeFileSync(config, JSON.stringify(CONFIGURATION))
  try {
    await run(kind, [
      'create',
      'cluster',
      `--name=${name}`,
      `--config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      '--wait=5m',
    ])
    // A builder of Docker's own keeps what it made to itself, unless it is told to.
    const target = ['--', '--target=baseline']
    await run('npm', ['run', 'image', ...target, ...(engine === 'docker' ? ['--load'] : [])])
    await run(engine, ['save', `--output=${archive}`, `${repository}:${version}`])
    await run(kind, ['load', 'image-archive', archive, `--name=${name}`])
  } catch (error) {
    await remove()
    throw error
  }
  return { kubeconfig, image: { repository, tag: version, pullPolicy: 'Never' }, remove }
}
