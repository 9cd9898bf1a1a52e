import type { Evaluation } from '../../reconciler/baseline/gather/evaluation.ts'
import { waitsOn } from '../../reconciler/baseline/report/hco-notes.ts'
import { type Asset, type Catalog, namespaceOf } from '../../shared/baseline/catalog/catalog.ts'
import { SEE_ALL_NAMES } from '../../shared/baseline/settings/settings.ts'
import { formatValue } from '../../shared/engine/format-value.ts'
import { titleOf } from '../../shared/engine/json/object.ts'
import { nearest, suggesting } from '../../shared/engine/nearest.ts'
import type { Env } from '../../shared/ops/env.ts'
import { type CatalogOptions, loadCatalogWith } from '../assets.ts'
import { notesOn } from '../notes.ts'
import { UsageError, warn } from '../run-cli.ts'
import { evaluateOffline, type OfflineOptions, refuseOffline } from './evaluate-offline.ts'
import { FORMATS, type FormatOptions, kubernetesYaml, type RenderedAsset } from './formats.ts'

export interface RenderOptions extends CatalogOptions, OfflineOptions, FormatOptions {
  /** The cluster to ask; offline where there is none. */
  readonly kubeconfig?: string
  /** Only these assets. */
  readonly asset?: readonly string[]
  readonly output: keyof typeof FORMATS | 'facts'
}

/** The `render` command: prints the baselines. Returns the exit code: 1 where one could not be rendered. */
export async function render(options: RenderOptions, env: Env): Promise<number> {
  const catalog = loadCatalogWith(options)
  const wanted = selectAssets(catalog, options.asset)
  const evaluation = await evaluationOf(catalog, options, env)
  for (const note of notesOn(catalog, evaluation, waitsOn(catalog, evaluation))) warn(note)
  if (options.output === 'facts') {
    process.stdout.write(kubernetesYaml(evaluation.facts))
    return 0
  }
  const rendered = wanted.map((asset) => renderedOn(asset, evaluation))
  process.stdout.write(FORMATS[options.output](rendered, options))
  for (const line of leftOut(rendered, options)) warn(line)
  const failed = rendered.flatMap(({ asset, status }) =>
    status.kind === 'failed' ? [`${asset.name}: ${status.message}`] : [],
  )
  for (const line of failed) warn(line)
  return failed.length === 0 ? 0 : 1
}

async function evaluationOf(
  catalog: Catalog,
  options: RenderOptions,
  env: Env,
): Promise<Evaluation> {
  const { kubeconfig } = options
  if (kubeconfig === undefined) return evaluateOffline(catalog, options, env)
  refuseOffline(options)
  // What talks to a cluster takes as long to load as everything else.
  const { evaluateOnCluster } = await import('./evaluate-on-cluster.ts')
  return evaluateOnCluster(catalog, { ...options, kubeconfig }, env)
}

/** Why assets that were asked for by name are not in what is printed. */
function leftOut(
  rendered: readonly RenderedAsset[],
  { asset, output }: RenderOptions,
): readonly string[] {
  if (!asset || output === 'status') return []
  return rendered.flatMap(({ asset: { name }, status }) => {
    if (status.kind === 'inactive') return [`${name} is not active: ${status.message}`]
    return status.kind === 'tombstone' ? [`${name} has no baseline: it is to be deleted`] : []
  })
}

/** What became of an asset, as the formats print it. */
export function renderedOn(asset: Asset, { statuses, hco }: Evaluation): RenderedAsset {
  const status = statuses.get(asset.name)
  if (!status) throw new Error(`asset ${asset.name} was never evaluated`)
  const { kind, name } = asset.object
  const namespace = namespaceOf(asset, hco.metadata.namespace ?? '')
  return { asset, status, title: titleOf({ kind, metadata: { name, namespace } }) }
}

/** The assets of these names, in the catalog's order; all where no name is given. Throws a UsageError for a name of none. */
export function selectAssets(catalog: Catalog, names: readonly string[] | undefined): Catalog {
  if (!names) return catalog
  const known = catalog.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return catalog.filter(({ name }) => names.includes(name))
  // A part of a name is nearer to it than another short name.
  const near = known.find((name) => name.includes(unknown)) ?? nearest(unknown, known)
  const sentence = `--asset: no asset is named ${formatValue('', unknown)}`
  throw new UsageError(suggesting(sentence, near === undefined ? near : `"${near}"`, SEE_ALL_NAMES))
}
