import { stringify } from 'yaml'
import type { Asset } from '../../shared/baseline/catalog/catalog.ts'
import type { Standing } from '../../shared/baseline/standing.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import { escapeControls } from '../../shared/engine/show.ts'

/** What became of one asset. */
export interface RenderedAsset {
  readonly asset: Asset
  readonly standing: Standing
  /** Its object, as people name it. */
  readonly title: string
}

export interface FormatOptions {
  readonly metadataOnly: boolean
}

type Format = (rendered: readonly RenderedAsset[], options: FormatOptions) => string

/** How `render` prints, by the name of its `-o`. */
export const FORMATS = { yaml, json, status } as const satisfies Readonly<Record<string, Format>>

/** The baselines as YAML documents, each under a line that says whose it is and why it is kept. */
function yaml(rendered: readonly RenderedAsset[], options: FormatOptions): string {
  return rendered
    .flatMap(({ asset: { name, group, description }, standing }) => {
      if (standing.kind !== 'active') return []
      const object = shownOf(standing.baseline, options)
      return [`# ${name} (${group}): ${description}\n${kubernetesYaml(object)}`]
    })
    .join('---\n')
}

/** The baselines as one list, as kubectl prints several objects. */
function json(rendered: readonly RenderedAsset[], options: FormatOptions): string {
  const items = rendered.flatMap(({ standing }) =>
    standing.kind === 'active' ? [shownOf(standing.baseline, options)] : [],
  )
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2)}\n`
}

const shownOf = (object: KubeObject, { metadataOnly }: FormatOptions): object => {
  const { apiVersion, kind, metadata } = object
  return metadataOnly ? { apiVersion, kind, metadata } : object
}

const HEAD = ['ASSET', 'STATE', 'BASELINE', 'OBJECT', 'WHY'] as const

/** Every asset on a line of its own; only the last two columns have spaces in them. */
function status(rendered: readonly RenderedAsset[]): string {
  const rows = [HEAD, ...rendered.map(rowOf)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

function rowOf({ asset, standing, title }: RenderedAsset): readonly string[] {
  const why = 'message' in standing ? standing.message : asset.description
  const digest = standing.kind === 'active' ? standing.digest : '-'
  return [asset.name, stateOf(standing), digest, title, escapeControls(why)]
}

function stateOf(standing: Standing): string {
  if (standing.kind === 'active') return 'Active'
  return standing.kind === 'tombstone' ? 'Tombstone' : standing.reason
}

/** An object as a YAML document that kubectl reads as it is meant. */
export const kubernetesYaml = (object: object) => stringify(object, FOR_KUBECTL)

// kubectl reads YAML 1.1, in which a plain `on` is a boolean.
const FOR_KUBECTL = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const
