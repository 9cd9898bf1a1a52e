import { isMap, type KubeObject } from '../engine/json/object.ts'
import { err, ok, type Result } from '../engine/result.ts'
import {
  configMapModule,
  createModule,
  inlineModule,
  type Module,
  type ModuleError,
} from '../modules/module.ts'
import type { Fault } from './fault.ts'
import type { TransformSpec } from './transform.ts'

/** The modules that are shipped with us, by name. */
export type EmbeddedModules = ReadonlyMap<string, Module>

/** The module that a Transform names, or why there is none; undefined of one that only a cluster has. */
export function localModule(
  { type, ref, path }: TransformSpec['cueRef'],
  embedded: EmbeddedModules,
): Result<Module, Fault> | undefined {
  switch (type) {
    case 'inline':
      return checked(inlineModule(ref))
    case 'embedded': {
      const module = embedded.get(ref)
      if (!module) return notFound(`there is no module ${ref}: ${[...embedded.keys()].join(', ')}`)
      return inFolder(ok(module), path)
    }
    case 'configmap':
      return undefined
    default:
      return type satisfies never
  }
}

/** The module that a ConfigMap holds. */
export const moduleIn = ({ data }: KubeObject, path: string | undefined): Result<Module, Fault> =>
  inFolder(configMapModule(isMap(data) ? (data as never) : {}), path)

/** The module with another of its folders as its package. */
export const inFolder = (
  module: Result<Module, ModuleError>,
  path: string | undefined,
): Result<Module, Fault> =>
  checked(module.ok && path !== undefined ? createModule(module.value.files, path) : module)

export const notFound = (message: string): Result<never, Fault> =>
  err({ reason: 'ModuleNotFound', causes: [{ field: 'spec.cueRef.ref', message }] })

const checked = (module: Result<Module, ModuleError>): Result<Module, Fault> =>
  module.ok
    ? module
    : err({
        reason: 'ModuleInvalid',
        causes: [{ field: 'spec.cueRef', message: module.error.message }],
      })
