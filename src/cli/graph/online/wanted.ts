import { statSync } from 'node:fs'
import { loadModule } from '../../../reconciler/graph/transforms/load-module.ts'
import type { Result } from '../../../shared/engine/result.ts'
import { causeText, type Fault } from '../../../shared/graph/fault.ts'
import type { Transform } from '../../../shared/graph/transform.ts'
import type { Module } from '../../../shared/modules/module.ts'
import { UndecidedError } from '../../run-cli.ts'
import { loadEmbedded } from '../modules.ts'
import { schemaCauses } from '../offline/schema.ts'
import { onlyTransform, readTransforms } from '../offline/transforms.ts'
import { type Cluster, noTransform, readTransform } from './on-cluster.ts'

/** The Transform that somebody asks about. */
export interface Wanted {
  readonly transform: Transform
  readonly module: Result<Module, Fault>
  /** As it is stored; undefined where there is none of its name. */
  readonly stored: Transform | undefined
}

/** The Transform in a file, or the stored one of a name; its module is read as whoever asks. */
export const wantedOf = (target: string, cluster: Cluster): Promise<Wanted> =>
  isFile(target) ? inFile(target, cluster) : inCluster(target, cluster)

// Names have dots, too; but no slashes, and hardly these ends. A folder may be called as a Transform is.
const isFile = (target: string) =>
  target === '-' || /\/|\.(ya?ml|json)$/.test(target) || isPlainFile(target)

const isPlainFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true

async function inFile(file: string, cluster: Cluster): Promise<Wanted> {
  const files = await readTransforms([file], cluster.namespace)
  const object = onlyTransform(file, files)
  const causes = schemaCauses(object)
  if (causes.length > 0) throw new UndecidedError(causes.map(causeText).join('; '))
  const transform = object as Transform
  const { name, namespace = cluster.namespace } = transform.metadata
  return {
    transform,
    module: files.moduleOf(transform) ?? (await moduleOf(transform, cluster)),
    stored: await readTransform({ ...cluster, namespace }, name),
  }
}

async function inCluster(name: string, cluster: Cluster): Promise<Wanted> {
  const stored = await readTransform(cluster, name)
  if (!stored) throw noTransform(cluster, name)
  return { transform: stored, module: await moduleOf(stored, cluster), stored }
}

const moduleOf = (transform: Transform, { client }: Cluster) =>
  loadModule(transform, { client, embedded: loadEmbedded() })
