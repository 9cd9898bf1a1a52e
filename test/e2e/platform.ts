import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadDefinitions } from '../../tools/control-plane/definitions.ts'
import { type Manifest, manifestsIn } from '../../tools/control-plane/manifests.ts'
import { NAMESPACE } from '../chart/helm.ts'
import type { Rehearsal } from './rehearsal.ts'

const TEST = join(import.meta.dirname, '..')

const definitions = () => loadDefinitions(join(TEST, 'crds'))

/** What stands for a platform: its namespaces, what OpenShift keeps of it, and a HyperConverged that asks for nearly everything. */
const objects = (): readonly Manifest[] =>
  ['samples/namespaces', 'samples/cluster', 'clusters/hco-everything'].flatMap((name) =>
    manifestsIn(join(TEST, `${name}.yaml`)),
  )

/** Makes a platform of a cluster that is none, as its operators would after us. */
export async function bringPlatform({ kubectl, folder }: Rehearsal): Promise<void> {
  const file = (name: string, items: readonly Manifest[]) => {
    const path = join(folder, `${name}.json`)
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    return `--filename=${path}`
  }
  const apply = (...args: readonly string[]) => kubectl('apply', '--server-side', ...args)
  const made = file('definitions', definitions())
  await apply(made)
  await kubectl('wait', '--for=condition=Established', '--timeout=2m', made)
  await apply(file('objects', objects()))
  const withStatus = objects().filter(({ status }) => status !== undefined)
  await apply('--subresource=status', file('statuses', withStatus))
}

/** Takes away what the rehearsal brought, but for what it is told to leave: the objects of a platform that was there before. */
export async function cleanUp({ kubectl, isBare }: Rehearsal): Promise<void> {
  const remove = (...args: readonly string[]) =>
    kubectl('delete', '--ignore-not-found', '--wait=false', ...args)
  await remove('namespace', NAMESPACE)
  if (!isBare) return
  const namespaces = objects().filter(({ kind }) => kind === 'Namespace')
  await remove('namespace', ...namespaces.map(({ metadata }) => metadata.name))
  await remove('customresourcedefinitions', ...definitions().map(({ metadata }) => metadata.name))
}
