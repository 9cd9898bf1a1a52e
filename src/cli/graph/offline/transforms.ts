import { groupOf, isMap, type KubeObject, mapMembers } from '../../../shared/engine/json/object.ts'
import type { Result } from '../../../shared/engine/result.ts'
import type { Fault } from '../../../shared/graph/fault.ts'
import { checkedModule, localModule } from '../../../shared/graph/local-module.ts'
import { GROUP } from '../../../shared/graph/names.ts'
import { TRANSFORM, type Transform } from '../../../shared/graph/transform.ts'
import {
  configMapModule,
  createModule,
  type Module,
  type ModuleError,
} from '../../../shared/modules/module.ts'
import { type Manifest, type Manifests, readManifests } from '../../check/manifests.ts'
import { titleOfFile } from '../../read-objects.ts'
import { loadEmbedded } from '../modules.ts'

/** What files hold for graphs. */
export interface TransformFiles extends Pick<Manifests, 'skipped' | 'faults'> {
  /** Each in a namespace. */
  readonly transforms: readonly Manifest[]
  /** The module of a Transform, or why there is none; undefined of one that is in none of the files either. */
  readonly moduleOf: (transform: Transform) => Result<Module, Fault> | undefined
}

/** Reads the Transforms in files and folders, and the ConfigMaps that hold their modules; `namespace` is that of those that say none. */
export async function readTransforms(
  paths: readonly string[],
  namespace: string,
): Promise<TransformFiles> {
  const { manifests, skipped, faults } = await readManifests(paths)
  const placed = manifests.map((manifest) => ({
    ...manifest,
    object: placedIn(namespace, manifest.object),
  }))
  const configMaps = new Map(
    placed.filter(({ object }) => isConfigMap(object)).map(({ object }) => [keyOf(object), object]),
  )
  const embedded = loadEmbedded()
  return {
    transforms: placed.filter(({ object }) => isTransform(object)),
    skipped,
    faults,
    moduleOf({ metadata, spec: { cueRef } }) {
      const found = configMaps.get(keyOf({ metadata: { ...metadata, name: cueRef.ref } }))
      return (
        localModule(cueRef, embedded) ??
        (found && inFolder(configMapModule(dataOf(found)), cueRef.path))
      )
    },
  }
}

/** The one Transform of a file that was asked for. Throws where there is none, or there are several. */
export function onlyTransform(file: string, { transforms, faults }: TransformFiles): KubeObject {
  const [fault] = faults
  if (fault) throw new Error(fault.message)
  const [first, ...others] = transforms
  if (!first) throw new Error(`there is no Transform in ${titleOfFile(file)}`)
  if (others.length === 0) return first.object
  throw new Error(`there are ${transforms.length} Transforms in ${titleOfFile(file)}: give one`)
}

/** The module with the folder as its package that a Transform names, if it names one. */
export const inFolder = (
  module: Result<Module, ModuleError>,
  path: string | undefined,
): Result<Module, Fault> =>
  checkedModule(module.ok && path !== undefined ? createModule(module.value.files, path) : module)

const placedIn = (namespace: string, object: KubeObject): KubeObject =>
  object.metadata.namespace === undefined
    ? { ...object, metadata: { ...object.metadata, namespace } }
    : object

const keyOf = ({ metadata: { namespace, name } }: Pick<KubeObject, 'metadata'>) =>
  `${namespace}/${name}`

const isConfigMap = ({ apiVersion, kind }: KubeObject) =>
  apiVersion === 'v1' && kind === 'ConfigMap'

const isTransform = ({ apiVersion, kind }: KubeObject) =>
  groupOf(apiVersion) === GROUP && kind === TRANSFORM.kind

const dataOf = ({ data }: KubeObject) => (isMap(data) ? mapMembers(data, String) : {})
