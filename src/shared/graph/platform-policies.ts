import { isMap, type KubeObject } from '../engine/json/object.ts'
import { err, ok, type Result } from '../engine/result.ts'
import { configMapModule, type Module } from '../modules/module.ts'
import { GRAPH } from './names.ts'

/** The ConfigMap of our own namespace whose policies take the place of those that are shipped. */
export const POLICIES = `${GRAPH.name}-policies`

/**
 * The policies that every module is judged by: those of the ConfigMap, where there is one. One that is no module is a fault, which
 * lets nothing pass: somebody wanted other policies than the shipped ones.
 */
export function policiesIn(
  configMap: KubeObject | undefined,
  shipped: Module,
): Result<Module, string> {
  if (!configMap) return ok(shipped)
  const { data } = configMap
  const texts = isMap(data) ? (data as Readonly<Record<string, string>>) : {}
  const module = configMapModule(texts)
  if (module.ok) return ok(module.value)
  const { namespace, name } = configMap.metadata
  return err(
    `the platform's policies in the ConfigMap ${namespace}/${name} cannot be used: ${module.error.message}; mend it, or delete it to have the shipped ones`,
  )
}
