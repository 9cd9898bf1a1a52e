import { type Client, isForbidden } from '../../../shared/cluster/client.ts'
import { read } from '../../../shared/cluster/resource.ts'
import { type Account, accountUser } from '../../../shared/engine/identity.ts'
import { isMap, type KubeObject } from '../../../shared/engine/json/object.ts'
import { err, ok, type Result } from '../../../shared/engine/result.ts'
import type { Fault } from '../../../shared/graph/fault.ts'
import { accountOf, type Transform } from '../../../shared/graph/transform.ts'
import {
  configMapModule,
  createModule,
  inlineModule,
  type Module,
  type ModuleError,
} from '../../../shared/modules/module.ts'

/** The modules that are shipped with us, by name. */
export type EmbeddedModules = ReadonlyMap<string, Module>

export interface ModuleDeps {
  /** The Transform's account's: a module is read by who applies it. */
  readonly client: Client
  readonly embedded: EmbeddedModules
}

/** The module that a Transform names, or why there is none. Rejects where the API server cannot say. */
export async function loadModule(
  transform: Transform,
  { client, embedded }: ModuleDeps,
): Promise<Result<Module, Fault>> {
  const { type, ref, path } = transform.spec.cueRef
  switch (type) {
    case 'inline':
      return checked(inlineModule(ref))
    case 'embedded': {
      const module = embedded.get(ref)
      if (!module) return notFound(`there is no module ${ref}: ${[...embedded.keys()].join(', ')}`)
      return path === undefined ? ok(module) : checked(createModule(module.files, path))
    }
    case 'configmap':
      return fromConfigMap(transform, client)
    default:
      return type satisfies never
  }
}

async function fromConfigMap(transform: Transform, client: Client): Promise<Result<Module, Fault>> {
  const { ref: name, path } = transform.spec.cueRef
  const { namespace = '' } = transform.metadata
  let configMap: KubeObject | undefined
  try {
    configMap = await read(client, configMapsIn(namespace), name)
  } catch (error) {
    if (!isForbidden(error)) throw error
    return err(forbidden(accountOf(transform), name))
  }
  if (!configMap) return notFound(`there is no ConfigMap ${namespace}/${name}`)
  const module = configMapModule(isMap(configMap.data) ? (configMap.data as never) : {})
  return module.ok && path !== undefined
    ? checked(createModule(module.value.files, path))
    : checked(module)
}

/** Where the ConfigMaps of a namespace are. */
export const configMapsIn = (namespace: string) => ({
  apiVersion: 'v1',
  resource: 'configmaps',
  namespace,
})

const notFound = (message: string): Result<never, Fault> =>
  err({ reason: 'ModuleNotFound', causes: [{ field: 'spec.cueRef.ref', message }] })

const checked = (module: Result<Module, ModuleError>): Result<Module, Fault> =>
  module.ok
    ? module
    : err({
        reason: 'ModuleInvalid',
        causes: [{ field: 'spec.cueRef', message: module.error.message }],
      })

/** That an account may not read the module, and the command that lets it. */
function forbidden({ namespace, name }: Account, configMap: string): Fault {
  const message = `${accountUser(namespace, name)} may not read the ConfigMap ${namespace}/${configMap}; to allow it: kubectl create rolebinding ${name}-view -n ${namespace} --clusterrole=view --serviceaccount=${namespace}:${name}`
  return { reason: 'Forbidden', causes: [{ field: 'spec.cueRef.ref', message }] }
}
