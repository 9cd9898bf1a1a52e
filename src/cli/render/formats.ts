import { stringify } from 'yaml'
import type { AssetStatus } from '../../shared/baseline/asset-status.ts'
import type { Asset } from '../../shared/baseline/catalog/catalog.ts'
import { escapeControls } from '../../shared/engine/format-value.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import { decoded } from './decode.ts'

/** What became of one asset. */
export interface RenderedAsset {
  readonly asset: Asset
  readonly status: AssetStatus
  /** Its object, as people name it. */
  readonly title: string
}

export interface FormatOptions {
  readonly metadataOnly: boolean
  /** Whether payloads are shown as what they encode. */
  readonly decode: boolean
}

type Format = (rendered: readonly RenderedAsset[], options: FormatOptions) => string

/** How `render` prints, by the name of its `-o`. */
export const FORMATS = { yaml, json, status } as const satisfies Readonly<Record<string, Format>>

/** The baselines as YAML documents, each under a line that says whose it is and why it is kept. */
function yaml(rendered: readonly RenderedAsset[], options: FormatOptions): string {
  return rendered
    .flatMap(({ asset: { name, group, description }, status }) => {
      if (status.kind !== 'active') return []
      const object = shownOf(status.baseline, options)
      return [`# ${name} (${group}): ${description}\n${kubernetesYaml(object)}`]
    })
    .join('---\n')
}

/** The baselines as one list, as kubectl prints several objects. */
function json(rendered: readonly RenderedAsset[], options: FormatOptions): string {
  const items = rendered.flatMap(({ status }) =>
    status.kind === 'active' ? [shownOf(status.baseline, options)] : [],
  )
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2)}\n`
}

const shownOf = (object: KubeObject, { metadataOnly, decode }: FormatOptions): object => {
  const { apiVersion, kind, metadata } = object
  const shown = metadataOnly ? { apiVersion, kind, metadata } : object
  return decode ? (decoded(shown) as object) : shown
}

const HEAD = ['ASSET', 'STATE', 'BASELINE', 'OBJECT', 'WHY'] as const

/** Every asset on a line of its own; only the last two columns have spaces in them. */
function status(rendered: readonly RenderedAsset[]): string {
  return inColumns([HEAD, ...rendered.map(rowOf)])
}

/** Rows of cells as lines, each column as wide as its widest cell. */
export function inColumns(rows: readonly (readonly string[])[]): string {
  const columns = rows[0] ?? []
  const widths = columns.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

function rowOf({ asset, status, title }: RenderedAsset): readonly string[] {
  const why = 'message' in status ? status.message : asset.description
  const digest = status.kind === 'active' ? status.digest : '-'
  return [asset.name, stateOf(status), digest, title, escapeControls(why)]
}

function stateOf(status: AssetStatus): string {
  if (status.kind === 'active') return 'Active'
  return status.kind === 'tombstone' ? 'Tombstone' : status.reason
}

/** An object as a YAML document that kubectl reads as it is meant. */
export const kubernetesYaml = (object: object) => stringify(object, FOR_KUBECTL)

// kubectl reads YAML 1.1, in which a plain `on` is a boolean.
const FOR_KUBECTL = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const
