import type { Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'
import { groupOf, type KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { Schema } from '../../../src/shared/engine/merge/tree-of.ts'
import { definitionsOf } from '../../generate/definitions.ts'
import { evaluateSample, SAMPLE_CLUSTERS } from '../../generate/samples/sample-clusters.ts'
import { compareWithDefaults, type Finding, hasDefaults } from './compare.ts'

/** What an asset sets in one version of its kind, beside what one release of its definition has as defaults. */
export interface Judged {
  readonly asset: string
  readonly apiVersion: string
  /** The definition, from the root of the repository. */
  readonly file: string
  /** Nothing can be said where it has none at all. */
  readonly hasDefaults: boolean
  readonly findings: readonly Finding[]
}

/**
 * Judges whatever the catalog yields on the sample clusters, by each definition of the kind that is here. An API
 * server's own kinds have none.
 */
export function judgeValues(catalog: Catalog): readonly Judged[] {
  const judged = new Map<string, Judged>()
  for (const sample of Object.values(SAMPLE_CLUSTERS)) {
    for (const [asset, status] of evaluateSample(catalog, sample).statuses) {
      if (status.kind !== 'active') continue
      for (const one of judge(asset, status.baseline)) {
        const key = [asset, one.apiVersion, one.file].join()
        judged.set(key, both(judged.get(key), one))
      }
    }
  }
  return [...judged.values()].sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1))
}

function judge(asset: string, object: KubeObject): readonly Judged[] {
  const releases = releasesOf(object)
  return releases.map(({ file, schema }, index) => {
    const earlier = releases.slice(index + 1).map((release) => release.schema)
    const findings = compareWithDefaults(object, schema, earlier)
    const { apiVersion } = object
    return { asset, apiVersion, file, hasDefaults: hasDefaults(schema), findings }
  })
}

interface Release {
  readonly file: string
  readonly schema: Schema
}

/** The releases of the definition of an object's kind that have its version, the newest first. */
function releasesOf({ apiVersion, kind }: KubeObject): readonly Release[] {
  const group = groupOf(apiVersion)
  const known = releases.get(group) ?? definitionsOf(group)
  releases.set(group, known)
  return known
    .filter((definition) => definition.kind === kind)
    .flatMap(({ file, versions }) =>
      versions
        .filter(({ name }) => `${group}/${name}` === apiVersion)
        .map(({ schema }) => ({ file, schema })),
    )
}

// They are large, and every sample cluster has the same.
const releases = new Map<string, ReturnType<typeof definitionsOf>>()

/** An asset may set other values on another cluster. */
function both(before: Judged | undefined, now: Judged): Judged {
  const keyOf = ({ pointer, value }: Finding) => `${pointer} ${JSON.stringify(value)}`
  const findings = [...(before?.findings ?? []), ...now.findings]
  const distinct = new Map(findings.map((finding) => [keyOf(finding), finding]))
  return { ...now, findings: [...distinct.values()] }
}

/** What was judged, by what. */
export const titleOf = ({ asset, apiVersion, file }: Judged): string =>
  `${asset}, ${apiVersion}, ${file}`
