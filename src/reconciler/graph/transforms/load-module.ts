import { type Client, isForbidden } from '../../../shared/cluster/client.ts'
import { read } from '../../../shared/cluster/resource.ts'
import { type Account, accountUser } from '../../../shared/engine/identity.ts'
import { isMap, type KubeObject } from '../../../shared/engine/json/object.ts'
import { err, type Result } from '../../../shared/engine/result.ts'
import type { Fault } from '../../../shared/graph/fault.ts'
import {
  checkedModule,
  type EmbeddedModules,
  localModule,
  moduleNotFound,
} from '../../../shared/graph/local-module.ts'
import { accountOf, type Transform } from '../../../shared/graph/transform.ts'
import { configMapModule, createModule, type Module } from '../../../shared/modules/module.ts'
import { notOurs } from '../enrolment.ts'

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
  return localModule(transform.spec.cueRef, embedded) ?? (await fromConfigMap(transform, client))
}

async function fromConfigMap(transform: Transform, client: Client): Promise<Result<Module, Fault>> {
  const { ref: name, path } = transform.spec.cueRef
  const { namespace = '' } = transform.metadata
  let configMap: KubeObject | undefined
  try {
    configMap = await read(client, configMapsIn(namespace), name)
  } catch (error) {
    if (!isForbidden(error)) throw error
    const account = accountOf(transform)
    const isOurs = !/cannot impersonate/.test(error.message)
    return err(isOurs ? forbidden(account, name) : notOurs(account))
  }
  if (!configMap) return moduleNotFound(`there is no ConfigMap ${namespace}/${name}`)
  const module = configMapModule(isMap(configMap.data) ? (configMap.data as never) : {})
  return module.ok && path !== undefined
    ? checkedModule(createModule(module.value.files, path))
    : checkedModule(module)
}

/** Where the ConfigMaps of a namespace are. */
export const configMapsIn = (namespace: string) => ({
  apiVersion: 'v1',
  resource: 'configmaps',
  namespace,
})

/** That an account may not read the module, and the command that lets it. */
function forbidden({ namespace, name }: Account, configMap: string): Fault {
  const message = `${accountUser(namespace, name)} may not read the ConfigMap ${namespace}/${configMap}; to allow it: kubectl create rolebinding ${name}-view -n ${namespace} --clusterrole=view --serviceaccount=${namespace}:${name}`
  return { reason: 'Forbidden', causes: [{ field: 'spec.cueRef.ref', message }] }
}
