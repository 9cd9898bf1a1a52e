import { compileTemplate, type Template } from '../engine/render.ts'
import { err, ok, type Result } from '../engine/result.ts'
import { parseCatalog } from './catalog-text.ts'
import type { Condition } from './conditions.ts'
import type { Facts } from './facts.ts'

/** Which object an asset yields. `$hco` as namespace stands for the HyperConverged's. */
export interface ObjectIdentity {
  readonly group: string
  /** Newest first: the first one that the cluster serves is used. */
  readonly versions: readonly string[]
  readonly kind: string
  readonly resource: string
  readonly namespace?: string
  readonly name: string
}

/** One entry of the catalog: a template plus metadata, yielding exactly one object. */
export interface Asset {
  readonly name: string
  readonly group: string
  readonly description: string
  readonly template: string
  readonly files: readonly string[]
  readonly object: ObjectIdentity
  readonly install: 'always' | 'opt-in'
  readonly order: number
  readonly conditions: readonly Condition[]
  /** Pointers into the HyperConverged's spec: all of it that the template can see. */
  readonly hcoFields: readonly string[]
  readonly enums: Readonly<Record<string, string>>
  readonly disruption: 'none' | 'reboot'
  /** The MachineConfigPool that a disruptive asset's change rolls. */
  readonly pool?: string
  readonly sensitive: boolean
  readonly links: readonly string[]
  readonly render: Template
  readonly file: (name: string) => string
}

export type Catalog = readonly Asset[]

/** Reads a file of the catalog's folder as text; throws when there is none. */
export type ReadFile = (name: string) => string

/** The catalog's folder does not hold a valid catalog; the message has one line per mistake. */
export class CatalogError extends Error {
  override name = 'CatalogError' as const
}

const SCHEMA = 'catalog.schema.json'
const CATALOG = 'catalog.yaml'

/** Reads and compiles the whole catalog, in order of reconciling; throws a CatalogError that names every mistake. */
export function loadCatalog(read: ReadFile): Catalog {
  const parsed = parseCatalog<Entry>(CATALOG, read(CATALOG), JSON.parse(read(SCHEMA)))
  if (!parsed.ok) throw new CatalogError(parsed.error.join('\n'))
  const { entries, titleOf } = parsed.value
  const assets: Asset[] = []
  const mistakes: string[] = []
  for (const [index, entry] of entries.entries()) {
    const title = titleOf(index)
    mistakes.push(...doubles(entry, entries.slice(0, index), title))
    const asset = compile(entry, read, title)
    if (asset.ok) assets.push(asset.value)
    else mistakes.push(asset.error)
  }
  if (mistakes.length > 0) throw new CatalogError(mistakes.join('\n'))
  return assets.sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1))
}

type Entry = Omit<Asset, 'render' | 'file'>

function compile(entry: Entry, read: ReadFile, title: string): Result<Asset, string> {
  try {
    const files = new Map(entry.files.map((name) => [name, read(name)]))
    const file = (name: string) => {
      const text = files.get(name)
      if (text === undefined) throw new Error(`the asset lists no file "${name}" under "files"`)
      return text
    }
    const text = read(entry.template)
    return ok({ ...entry, file, render: compileTemplate({ name: entry.template, text }) })
  } catch (error) {
    return err(`${title}: ${(error as Error).message}`)
  }
}

function doubles(entry: Entry, earlier: readonly Entry[], title: string): readonly string[] {
  const namesake = earlier.some(({ name }) => name === entry.name)
  const rival = earlier.find((other) => objectOf(other) === objectOf(entry))
  return [
    ...(namesake ? [`${title} is not the first of this name`] : []),
    ...(rival ? [`${title} yields the same object as asset ${rival.name}`] : []),
  ]
}

const objectOf = ({ object: { group, kind, namespace, name } }: Entry) =>
  JSON.stringify([group, kind, namespace, name])

/** The key under which served versions, schemas and rules know a kind: `apps/Deployment`, `/Service`. */
export const kindKey = ({ group, kind }: { readonly group: string; readonly kind: string }) =>
  `${group}/${kind}`

const SENSITIVE_KINDS: ReadonlySet<string> = new Set([
  'machineconfiguration.openshift.io/MachineConfig',
  'machineconfiguration.openshift.io/KubeletConfig',
  'rbac.authorization.k8s.io/ClusterRole',
  'rbac.authorization.k8s.io/ClusterRoleBinding',
  'rbac.authorization.k8s.io/Role',
  'rbac.authorization.k8s.io/RoleBinding',
  '/ServiceAccount',
  'security.openshift.io/SecurityContextConstraints',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
])

/** Whether the asset's content grants power over nodes or access, by its kind or by the catalog's word. */
export const isSensitive = (asset: Pick<Asset, 'object' | 'sensitive'>) =>
  asset.sensitive || SENSITIVE_KINDS.has(kindKey(asset.object))

/** Whether a write can only be denied, never corrected: what it moves drains nodes or grants access. */
export const isAlwaysDenied = (asset: Asset) => isSensitive(asset) || asset.disruption !== 'none'

export const isHyperConverged = (asset: Pick<Asset, 'object'>) =>
  asset.object.group === 'hco.kubevirt.io' && asset.object.kind === 'HyperConverged'

/** The namespace of the asset's object: the HyperConverged's where the catalog says `$hco`. */
export const namespaceOf = ({ object }: Pick<Asset, 'object'>, hcoNamespace: string) =>
  object.namespace === '$hco' ? hcoNamespace : object.namespace

/** `group/version`, or just the version for the core group. */
export const apiVersionOf = (group: string, version: string) =>
  group === '' ? version : `${group}/${version}`

/** The newest version of the asset's kind that both the catalog and the cluster know; undefined where there is none. */
export const servedVersion = ({ object }: Pick<Asset, 'object'>, served: Facts['served']) =>
  object.versions.find((version) => served[kindKey(object)]?.includes(version))
