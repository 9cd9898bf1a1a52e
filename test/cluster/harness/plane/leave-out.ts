import { definedBy } from '../../../../tools/control-plane/install.ts'
import { type Access, discoverKinds } from '../../../../tools/control-plane/kinds.ts'
import type { Manifest } from '../../../../tools/control-plane/manifests.ts'
import { send } from '../../../../tools/control-plane/request.ts'
import { until } from '../until.ts'

const DEFINITION = 'CustomResourceDefinition'

/**
 * Deletes these of the definitions and samples, and settles when they are gone and their kinds are not discovered any more: to
 * install all the others anew on an empty cluster takes the API server ten times as long.
 */
export async function leaveOut(access: Access, manifests: readonly Manifest[]): Promise<void> {
  const kinds = await discoverKinds(access)
  const paths = manifests.map(({ apiVersion, kind, metadata: { name, namespace } }) => {
    const path = kinds.get(`${apiVersion} ${kind}`)?.pathOf(name, namespace)
    if (path === undefined) throw new Error(`${apiVersion} ${kind} is not served here`)
    return { path, kind, name }
  })
  const ask = (method: string, path: string, body?: object) =>
    send(access.url + path, { method, ca: access.ca, token: access.token, body })
  // With a definition its objects go.
  for (const { path, kind, name } of paths.filter(({ kind }) => kind !== DEFINITION)) {
    await ask('DELETE', path)
    // Nobody else empties it here.
    if (kind === 'Namespace')
      await ask('PUT', `${path}/finalize`, { metadata: { name }, spec: { finalizers: [] } })
  }
  for (const { path } of paths.filter(({ kind }) => kind === DEFINITION)) await ask('DELETE', path)
  for (const { path } of paths)
    await until(`${path} is gone`, async () => (await ask('GET', path)).status === 404)
  const types = definedBy(manifests).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
  await until('they are not discovered', async () => {
    const kinds = await discoverKinds(access)
    return !types.some((type) => kinds.has(type))
  })
}
