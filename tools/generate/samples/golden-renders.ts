import { stringify } from 'yaml'

import { FORMATS } from '../../../src/cli/render/formats.ts'
import { renderedOn } from '../../../src/cli/render/render.ts'
import type { Asset, Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'
import { isMap, type KubeObject } from '../../../src/shared/engine/json/object.ts'
import { NOTICE } from '../notice.ts'
import { evaluateSample, SAMPLE_CLUSTERS } from './sample-clusters.ts'

/**
 * The baselines of each sample cluster, a folder for each and in it a file for each active asset, by path; and
 * status.txt, which says of every asset why it is there or not. Payloads are shown by the file that they come from,
 * or decoded, so that people can read them.
 */
export function goldenRenders(catalog: Catalog, folder: string): ReadonlyMap<string, string> {
  const files = Object.entries(SAMPLE_CLUSTERS).flatMap(([cluster, sample]) => {
    const evaluation = evaluateSample(catalog, sample)
    const rendered = catalog.map((asset) => renderedOn(asset, evaluation))
    const baselines = rendered.flatMap(({ asset, status }) =>
      status.kind === 'active' ? [[asset.name, golden(asset, status.baseline)] as const] : [],
    )
    return [
      [`${folder}/${cluster}/status.txt`, FORMATS.status(rendered)] as const,
      ...baselines.map(([name, text]) => [`${folder}/${cluster}/${name}.yaml`, text] as const),
    ]
  })
  return new Map(files)
}

function golden(asset: Asset, baseline: KubeObject): string {
  const sources = new Map(asset.files.map((name) => [asset.file(name), name]))
  return `# ${NOTICE}\n${stringify(readable(baseline, sources), { lineWidth: 0 })}`
}

const DATA_URL = /^data:[^,]*;base64,(.*)$/s

/** The same value with each payload as people read it. */
function readable(value: unknown, sources: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => readable(item, sources))
  if (isMap(value)) {
    const members = Object.entries(value)
    return Object.fromEntries(members.map(([name, member]) => [name, readable(member, sources)]))
  }
  if (typeof value !== 'string') return value
  const payload = DATA_URL.exec(value)?.[1]
  const text = payload === undefined ? value : Buffer.from(payload, 'base64').toString()
  const source = sources.get(text)
  return source === undefined ? text : `<the content of ${source}>`
}
