import { err, ok, type Result } from '../engine/result.ts'
import { createModule, inlineModule, type Module, type ModuleError } from '../modules/module.ts'
import type { Fault } from './fault.ts'
import type { TransformSpec } from './transform.ts'

/** The modules that are shipped with us, by name. */
export type EmbeddedModules = ReadonlyMap<string, Module>

/** The module that a Transform names, or why there is none; undefined where it is to be fetched. */
export function localModule(
  { type, ref, path }: TransformSpec['cueRef'],
  embedded: EmbeddedModules,
): Result<Module, Fault> | undefined {
  switch (type) {
    case 'inline':
      return checkedModule(inlineModule(ref))
    case 'embedded': {
      const module = embedded.get(ref)
      if (!module)
        return moduleNotFound(
          `there is no module ${ref}; the modules are ${[...embedded.keys()].join(', ')}`,
        )
      return path === undefined ? ok(module) : checkedModule(createModule(module.files, path))
    }
    default:
      return undefined
  }
}

export const moduleNotFound = (message: string): Result<never, Fault> =>
  err({ reason: 'ModuleNotFound', causes: [{ field: 'spec.cueRef.ref', message }] })

/** The module, or that its files are none. */
export const checkedModule = (module: Result<Module, ModuleError>): Result<Module, Fault> =>
  module.ok
    ? module
    : err({
        reason: 'ModuleInvalid',
        causes: [{ field: 'spec.cueRef', message: module.error.message }],
      })
