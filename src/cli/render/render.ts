import type { Evaluation } from '../../reconciler/baseline/gather/evaluation.ts'
import { waitsOn } from '../../reconciler/baseline/report/hco-notes.ts'
import { type Asset, type Catalog, namespaceOf } from '../../shared/baseline/catalog/catalog.ts'
import { titleOf } from '../../shared/engine/json/object.ts'
import type { Env } from '../../shared/ops/env.ts'
import { type CatalogOptions, loadCatalogWith } from '../assets.ts'
import { notesOn } from '../notes.ts'
import { UsageError } from '../run-cli.ts'
import { warn } from '../warn.ts'
import { FORMATS, type FormatOptions, type RenderedAsset } from './formats.ts'
import { type OfflineOptions, outlookOffline } from './offline-outlook.ts'
import { selectAssets } from './select-assets.ts'

export interface RenderOptions extends CatalogOptions, OfflineOptions, FormatOptions {
  /** The cluster to ask; offline where there is none. */
  readonly kubeconfig?: string
  /** Only these assets. */
  readonly asset?: readonly string[]
  readonly output: keyof typeof FORMATS
}

/** The `render` command: prints the baselines. Returns the exit code: 1 where one could not be rendered. */
export async function render(options: RenderOptions, env: Env): Promise<number> {
  const catalog = await loadCatalogWith(options)
  const wanted = selectAssets(catalog, options.asset)
  const evaluation = await outlookOf(catalog, options, env)
  for (const note of notesOn(catalog, evaluation, waitsOn(catalog, evaluation))) warn(note)
  const rendered = wanted.map((asset) => renderedOn(asset, evaluation))
  process.stdout.write(FORMATS[options.output](rendered, options))
  for (const line of leftOut(rendered, options)) warn(line)
  const failed = rendered.flatMap(({ asset, standing }) =>
    standing.kind === 'failed' ? [`${asset.name}: ${standing.message}`] : [],
  )
  for (const line of failed) warn(line)
  return failed.length === 0 ? 0 : 1
}

async function outlookOf(catalog: Catalog, options: RenderOptions, env: Env): Promise<Evaluation> {
  const { kubeconfig } = options
  if (kubeconfig === undefined) return outlookOffline(catalog, options, env)
  const offline = Object.entries(OFFLINE_FLAGS).find(([name]) => name in options)
  if (offline)
    throw new UsageError(`${offline[1]} is of no use with --kubeconfig, which says it all`)
  // What talks to a cluster takes as long to load as everything else.
  const { outlookOnCluster } = await import('./outlook-on-cluster.ts')
  return outlookOnCluster(catalog, { ...options, kubeconfig }, env)
}

const OFFLINE_FLAGS = {
  hco: '--hco',
  nodes: '--nodes',
  withoutApi: '--without-api',
  forcePci: '--force-pci',
  forceNuma: '--force-numa',
  forceGpu: '--force-gpu',
  forceVfio: '--force-vfio',
  forceUsb: '--force-usb',
} as const satisfies Readonly<Record<keyof Omit<OfflineOptions, 'hcoNamespace'>, string>>

/** Why assets that were asked for by name are not in what is printed. */
function leftOut(
  rendered: readonly RenderedAsset[],
  { asset, output }: RenderOptions,
): readonly string[] {
  if (!asset || output === 'status') return []
  return rendered.flatMap(({ asset: { name }, standing }) => {
    if (standing.kind === 'inactive') return [`${name} is not active: ${standing.message}`]
    return standing.kind === 'tombstone' ? [`${name} has no baseline: it is to be deleted`] : []
  })
}

/** What became of an asset, as the formats print it. */
export function renderedOn(asset: Asset, { standings, hco }: Evaluation): RenderedAsset {
  const standing = standings.get(asset.name)
  if (!standing) throw new Error(`asset ${asset.name} was never evaluated`)
  const { kind, name } = asset.object
  const namespace = namespaceOf(asset, hco.metadata.namespace ?? '')
  const metadata = { name, ...(namespace !== undefined && { namespace }) }
  return { asset, standing, title: titleOf({ kind, metadata }) }
}
