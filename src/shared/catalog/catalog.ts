import { Ajv } from 'ajv'
import { LineCounter, parseDocument } from 'yaml'

import { groupOf, type KubeObject } from '../engine/object.ts'
import { compileTemplate, type Template } from '../engine/render.ts'
import { err, ok, type Result } from '../engine/result.ts'
import type { Condition } from './conditions.ts'

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
  const entries = parseEntries(read(CATALOG), JSON.parse(read(SCHEMA)))
  const assets = entries.map((entry) => compile(entry, read))
  const mistakes = assets.flatMap((asset) => (asset.ok ? [] : [asset.error]))
  const catalog = assets.flatMap((asset) => (asset.ok ? [asset.value] : []))
  const all = [...mistakes, ...mistakesOf(catalog)]
  if (all.length > 0) throw new CatalogError(all.join('\n'))
  return catalog.sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1))
}

type Entry = Omit<Asset, 'render' | 'file'>

function parseEntries(text: string, schema: object): readonly Entry[] {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  const [broken] = [...document.errors, ...document.warnings]
  if (broken) throw new CatalogError(`${CATALOG}: ${broken.message.split('\n')[0]}`)
  const validate = new Ajv({ allErrors: true, useDefaults: true, strict: false }).compile<{
    assets: Entry[]
  }>(schema)
  const value: unknown = document.toJS()
  if (validate(value)) return value.assets
  const lines = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const node = document.getIn(instancePath.split('/').slice(1), true)
    const offset = (node as { range?: [number] } | undefined)?.range?.[0]
    const line = offset === undefined ? '' : `:${lineCounter.linePos(offset).line}`
    const extra = 'additionalProperty' in params ? ` "${params['additionalProperty']}"` : ''
    return `${CATALOG}${line}: ${instancePath || '/'} ${message}${extra}`
  })
  throw new CatalogError([...new Set(lines)].join('\n'))
}

function compile(entry: Entry, read: ReadFile): Result<Asset, string> {
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
    return err(`${CATALOG}: asset ${entry.name}: ${(error as Error).message}`)
  }
}

function mistakesOf(catalog: Catalog): readonly string[] {
  const seen = new Map<string, string>()
  return catalog.flatMap((asset) => {
    const object = `${asset.object.group}/${asset.object.kind}/${asset.object.namespace ?? ''}/${asset.object.name}`
    const twice = [asset.name, object].flatMap((key) => {
      const other = seen.get(key)
      seen.set(key, asset.name)
      return other === undefined
        ? []
        : [`${CATALOG}: asset ${asset.name}: asset ${other} has the same name or object`]
    })
    return [...twice, ...unreachable(asset)]
  })
}

const unreachable = ({ name, install, conditions, disruption, pool }: Asset) => [
  ...(install === 'opt-in' && !conditions.some(({ type }) => OPTS_IN.has(type))
    ? [`${CATALOG}: asset ${name}: opt-in without an annotation or feature-gate condition`]
    : []),
  ...(disruption === 'reboot' && pool === undefined
    ? [`${CATALOG}: asset ${name}: disruption reboot needs the pool it reboots`]
    : []),
]

const OPTS_IN: ReadonlySet<Condition['type']> = new Set(['annotation', 'feature-gate'])

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

/** Whether a stored or incoming object is the asset's, by group, kind, namespace and name, never by label. */
export const isObjectOf = (asset: Asset, hcoNamespace: string, object: KubeObject) =>
  groupOf(object.apiVersion) === asset.object.group &&
  object.kind === asset.object.kind &&
  object.metadata.name === asset.object.name &&
  (object.metadata.namespace ?? '') === (namespaceOf(asset, hcoNamespace) ?? '')
