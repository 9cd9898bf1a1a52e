import { identityOn } from '../../../shared/baseline/asset-status.ts'
import {
  apiVersionOf,
  type Catalog,
  conditionsOf,
  kindKey,
} from '../../../shared/baseline/catalog/catalog.ts'
import {
  type SchemaQuestion,
  schemaQuestions,
} from '../../../shared/baseline/catalog/schema-questions.ts'
import { answerKey, type Facts } from '../../../shared/baseline/facts/facts.ts'
import {
  detectHardware,
  type Hardware,
  holdHardware,
  type NodeHardware,
  type StickyHardware,
} from '../../../shared/baseline/facts/hardware.ts'
import { hcoFactsOf } from '../../../shared/baseline/facts/hco-facts.ts'
import { poolFacts } from '../../../shared/baseline/facts/pools.ts'
import { detectTopology } from '../../../shared/baseline/facts/topology.ts'
import type { Memory } from '../../../shared/baseline/state.ts'
import type { Served } from '../../../shared/cluster/discovery.ts'
import { type KindQuery, type KindSchema, schemaKey } from '../../../shared/cluster/schemas.ts'
import { isMap, type KubeObject } from '../../../shared/engine/json/object.ts'

/** Everything that facts are made of, read completely. */
export interface Observations {
  readonly hco: KubeObject
  readonly nodes: readonly KubeObject[]
  readonly infrastructure: KubeObject | undefined
  readonly scheduler: KubeObject | undefined
  readonly pools: readonly KubeObject[]
  readonly kubeletConfigs: readonly KubeObject[]
  /** The AAQs, of whomever. */
  readonly quotas: readonly KubeObject[]
  readonly machineConfiguration: KubeObject | undefined
  /** The Deployment of another autopilot. */
  readonly otherAutopilot: KubeObject | undefined
  readonly served: Served
  readonly schemas: ReadonlyMap<string, KindSchema>
  readonly images: Readonly<Record<string, string>>
}

export interface FactsNow {
  readonly facts: Facts
  readonly hardware: StickyHardware
}

/** Makes facts of observations; hardware keeps what it was for a while, see holdHardware. The sections are those before. */
export function makeFacts(
  catalog: Catalog,
  observed: Observations,
  previous: Pick<Memory, 'hardware' | 'sections'>,
  now: number,
): FactsNow {
  const hardware = holdHardware(
    previous.hardware,
    detectHardware(observed.nodes.map(hardwareOf)),
    now,
  )
  const flags = Object.entries(hardware).map(([detector, { value }]) => [detector, value])
  const sources = {
    nodeLabels: observed.nodes.map(({ metadata }) => metadata.labels ?? {}),
    infrastructure: observed.infrastructure,
    scheduler: observed.scheduler,
    pools: observed.pools,
    kubeletConfigs: observed.kubeletConfigs,
    quotas: observed.quotas,
    hcoName: observed.hco.metadata.name,
    ownKubeletConfigs: catalog.flatMap(({ object }) =>
      object.kind === 'KubeletConfig' ? [object.name] : [],
    ),
  }
  const known = {
    hco: hcoFactsOf(catalog, observed.hco),
    served: servedOf(catalog, observed.served),
  }
  return {
    hardware,
    facts: {
      ...known,
      hardware: Object.fromEntries(flags) as Hardware,
      topology: detectTopology(sources),
      ...poolFacts(sources),
      sections: previous.sections,
      ...answersOf(catalog, known.served, observed.schemas),
      images: observed.images,
    },
  }
}

/** The schemas that the catalog needs on a cluster that serves these kinds. */
export const schemaQueries = (
  catalog: Catalog,
  known: Pick<Facts, 'served' | 'hco'>,
): readonly KindQuery[] => {
  const own = catalog.flatMap((asset) => {
    const identity = identityOn(asset, known)
    return identity ? [{ ...identity, enumPointers: [], fieldPointers: [] }] : []
  })
  const asked = schemaQuestions(catalog).flatMap((question) => {
    const kind = kindAsked(question, known.served)
    const pointers = (about: string) => (question.about === about ? [question.pointer] : [])
    return kind
      ? [{ ...kind, enumPointers: pointers('enum'), fieldPointers: pointers('field') }]
      : []
  })
  return [...Map.groupBy<string, KindQuery>([...own, ...asked], schemaKey).values()].flatMap(
    (alike) =>
      alike.slice(0, 1).map(({ apiVersion, kind }) => ({
        apiVersion,
        kind,
        enumPointers: alike.flatMap(({ enumPointers }) => enumPointers),
        fieldPointers: alike.flatMap(({ fieldPointers }) => fieldPointers),
      })),
  )
}

/** The kind that a question is about, in the version that an asset of ours would be written or found in. */
function kindAsked({ group, kind, versions }: SchemaQuestion, served: Facts['served']) {
  const there = served[kindKey({ group, kind })] ?? []
  const version = versions?.find((candidate) => there.includes(candidate)) ?? there[0]
  return version === undefined ? undefined : { apiVersion: apiVersionOf(group, version), kind }
}

/** The served versions of the kinds that the catalog names, in its assets and its conditions. */
export function servedOf(catalog: Catalog, served: Served): Facts['served'] {
  const kinds = catalog.flatMap((asset) => [
    asset.object,
    ...conditionsOf(asset).filter((condition) => condition.type === 'crd'),
  ])
  const keys = [...new Set(kinds.map(kindKey))].sort()
  return Object.fromEntries(keys.map((key) => [key, served.get(key)?.versions ?? []]))
}

const hardwareOf = ({ metadata, status }: KubeObject): NodeHardware => {
  const capacity = isMap(status) && isMap(status.capacity) ? status.capacity : {}
  return { labels: metadata.labels ?? {}, capacity: capacity as Record<string, string> }
}

/** What the served schemas answer to the catalog's questions; of a kind that is not served, nothing. */
function answersOf(
  catalog: Catalog,
  served: Facts['served'],
  schemas: Observations['schemas'],
): Pick<Facts, 'enums' | 'fields'> {
  const enums: Record<string, readonly string[]> = {}
  const fields: Record<string, boolean> = {}
  for (const question of schemaQuestions(catalog)) {
    const kind = kindAsked(question, served)
    const schema = kind && schemas.get(schemaKey(kind))
    // A schema that is not published yet answers nothing.
    if (!schema) continue
    const key = answerKey(question, question.pointer)
    if (question.about === 'enum') enums[key] = schema.enums[question.pointer] ?? []
    else fields[key] = schema.fields[question.pointer] ?? false
  }
  return { enums, fields }
}
