import {
  type Asset,
  apiVersionOf,
  type Catalog,
  isHyperConverged,
  kindKey,
  namespaceOf,
} from '../../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES } from '../../../shared/baseline/facts/facts.ts'
import { kubeletUnitOf } from '../../../shared/baseline/facts/kubelet-unit.ts'
import { BASELINE } from '../../../shared/baseline/names.ts'
import type { Served } from '../../../shared/cluster/discovery.ts'
import type { Source } from '../../../shared/cluster/store.ts'
import { type JsonMap, type KubeObject, keepMembers } from '../../../shared/engine/json/object.ts'
import { valueAt } from '../../../shared/engine/json/pointer.ts'

export const CRDS = 'crds'
export const OTHER_AUTOPILOT = 'other-autopilot'
/** What the ids of the sources of single assets begin with. */
export const assetPrefix = 'asset:'
export const assetSource = (asset: Asset) => `${assetPrefix}${asset.name}`
export const namespaceSource = (namespace: string) => `namespace:${namespace}`

type Part = JsonMap & Pick<KubeObject, 'metadata'>

/** Keeps of an object what it is, and this part of it. */
const keeping =
  (partOf: (object: KubeObject) => Part) =>
  (object: KubeObject): KubeObject => {
    const { apiVersion, kind } = object
    return { apiVersion, kind, ...partOf(object) }
  }

/** Watched from the start: it tells which kinds are served. */
export const crdSource: Source = {
  id: CRDS,
  at: { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' },
  metadataOnly: true,
  project: keeping(({ metadata: { name, resourceVersion = '', deletionTimestamp } }) => ({
    metadata: { name, resourceVersion, ...(deletionTimestamp && { deletionTimestamp }) },
  })),
}

/** The sources of facts that this cluster serves. */
export const factSources = (catalog: Catalog, served: Served): readonly Source[] =>
  Object.entries(FACT_SOURCES).flatMap(([id, api]) => {
    // An object that we write is read in the version that we write; discovery lists the newest stable one first.
    const own = catalog.find(({ object }) => kindKey(object) === kindKey(api))
    const at = placeOf(api, served, own?.object.versions ?? []) ?? placeOf(api, served)
    const named = api.name !== undefined && { name: api.name }
    const project = PROJECTIONS[id]
    return at ? [{ id, at, ...named, ...(project && { project }) }] : []
  })

/** Where objects of a kind are found, in the first of these versions that is served; by default, of all that are. */
function placeOf(
  api: { readonly group: string; readonly kind: string },
  served: Served,
  versions?: readonly string[],
) {
  const found = served.get(kindKey(api))
  const version = (versions ?? found?.versions)?.find((one) => found?.versions.includes(one))
  if (!found || version === undefined) return undefined
  return { apiVersion: apiVersionOf(api.group, version), resource: found.resource }
}

/** What is kept of the objects that have more than facts are made of, or whose status is written all the time. */
const PROJECTIONS: Readonly<Record<string, (object: KubeObject) => KubeObject>> = {
  nodes: keeping(({ metadata: { name, labels = {} }, status }) => ({
    metadata: { name, labels: hardwareLabels(labels) },
    status: { capacity: valueAt(status, ['capacity']) ?? {} },
  })),
  workerKubelet: kubeletUnitOf,
  masterKubelet: kubeletUnitOf,
  waspAgents: keeping(({ metadata: { name, namespace = '' } }) => ({
    metadata: { name, namespace },
  })),
  nodeHealthChecks: keeping(({ metadata: { name }, spec }) => ({
    metadata: { name },
    spec: { selector: valueAt(spec, ['selector']) },
  })),
  remediationTemplates: keeping(({ metadata: { name, namespace = '', labels = {} } }) => ({
    metadata: { name, namespace, labels },
  })),
}

// Of thousands of nodes only what facts are made of is kept in memory.
const KEPT_LABELS = [
  'feature.node.kubernetes.io/',
  'kubernetes.io/arch',
  'node-role.kubernetes.io/',
]
const hardwareLabels = (labels: Readonly<Record<string, string>>) =>
  keepMembers(labels, (key) => KEPT_LABELS.some((prefix) => key.startsWith(prefix)))

/** The catalog's own objects and their namespaces, each by name, as far as their kinds are served. */
export function objectSources(
  catalog: Catalog,
  served: Served,
  hcoNamespace: string,
): readonly Source[] {
  const objects = catalog.flatMap((asset) => {
    const place = placeOf(asset.object, served, asset.object.versions)
    if (!place || isHyperConverged(asset)) return []
    const namespace = namespaceOf(asset, hcoNamespace)
    const at = { ...place, ...(namespace !== undefined && { namespace }) }
    return [{ id: assetSource(asset), at, name: asset.object.name }]
  })
  // The HyperConverged's namespace exists as long as the HyperConverged.
  const namespaces = new Set(objects.flatMap(({ at: { namespace } }) => namespace ?? []))
  namespaces.delete(hcoNamespace)
  const at = { apiVersion: 'v1', resource: 'namespaces' }
  return [
    ...objects,
    ...[...namespaces].map((name) => ({ id: namespaceSource(name), at, name, metadataOnly: true })),
  ]
}

/** The Deployment of another autopilot, where the operator that brings it has it. */
export const otherAutopilotSource = (hcoNamespace: string): Source => ({
  id: OTHER_AUTOPILOT,
  at: { apiVersion: 'apps/v1', resource: 'deployments', namespace: hcoNamespace },
  name: BASELINE.name,
  // Its status changes with each of its pods.
  project: keeping(({ metadata: { name, namespace = '' }, spec }) => ({
    metadata: { name, namespace },
    spec: { replicas: valueAt(spec, ['replicas']) },
  })),
})

/** Maps a source's id to the assets to reconcile when it changes: its own, those that yield to it or need it, or all of a namespace. */
export function assetIndex(catalog: Catalog): (id: string) => readonly string[] {
  const index = new Map<string, string[]>()
  for (const asset of catalog) {
    const ids = [
      assetSource(asset),
      ...[asset.yieldsTo, asset.needs].flatMap((other) => (other ? [assetSource(other)] : [])),
      ...(asset.object.namespace ? [namespaceSource(asset.object.namespace)] : []),
    ]
    for (const id of ids) index.set(id, [...(index.get(id) ?? []), asset.name])
  }
  return (id) => index.get(id) ?? []
}
