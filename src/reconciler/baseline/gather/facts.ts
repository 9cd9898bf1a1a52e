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
import { answerKey, type FACT_SOURCES, type Facts } from '../../../shared/baseline/facts/facts.ts'
import {
  detectHardware,
  type Hardware,
  holdHardware,
  type NodeHardware,
} from '../../../shared/baseline/facts/hardware.ts'
import { hcoFactsOf } from '../../../shared/baseline/facts/hco-facts.ts'
import { poolFacts } from '../../../shared/baseline/facts/pools.ts'
import { detectTopology, type TopologyObjects } from '../../../shared/baseline/facts/topology.ts'
import type { Memory } from '../../../shared/baseline/state.ts'
import type { Served } from '../../../shared/cluster/discovery.ts'
import { type KindQuery, type KindSchema, schemaKey } from '../../../shared/cluster/schemas.ts'
import { isMap, type KubeObject, mapMembers } from '../../../shared/engine/json/object.ts'

/** Everything that facts are made of, read completely. */
export interface Observations extends TopologyObjects {
  readonly nodes: readonly KubeObject[]
  readonly machineConfiguration: KubeObject | undefined
  /** The Deployment of another autopilot. */
  readonly otherAutopilot: KubeObject | undefined
  readonly served: Served
  readonly schemas: ReadonlyMap<string, KindSchema>
  readonly images: Readonly<Record<string, string>>
}

/** What there is of each source of facts but the HyperConverged; of one with a name, that object. */
export function observedIn(objectsOf: (id: keyof typeof FACT_SOURCES) => readonly KubeObject[]) {
  const objectOf = (id: keyof typeof FACT_SOURCES) => objectsOf(id)[0]
  return {
    nodes: objectsOf('nodes'),
    infrastructure: objectOf('infrastructure'),
    scheduler: objectOf('scheduler'),
    network: objectOf('network'),
    pools: objectsOf('pools'),
    kubeletConfigs: objectsOf('kubeletConfigs'),
    workerKubelet: objectOf('workerKubelet'),
    masterKubelet: objectOf('masterKubelet'),
    waspAgents: objectsOf('waspAgents'),
    nodeHealthChecks: objectsOf('nodeHealthChecks'),
    remediationTemplates: objectsOf('remediationTemplates'),
    quotas: objectsOf('quotas'),
    machineConfiguration: objectOf('machineConfiguration'),
  }
}

/** Makes facts of observations; hardware keeps what it was for a while, see holdHardware. The sections are those before. */
export function makeFacts(
  catalog: Catalog,
  observed: Observations,
  previous: Pick<Memory, 'hardware' | 'sections'>,
  now: number,
) {
  const detected = detectHardware(observed.nodes.map(hardwareOf))
  const hardware = holdHardware(previous.hardware, detected, now)
  const namesOf = (kind: string) =>
    catalog.flatMap(({ object }) => (object.kind === kind ? object.name : []))
  const sources = {
    ...observed,
    nodeLabels: observed.nodes.map(({ metadata }) => metadata.labels ?? {}),
    ownKubeletConfigs: namesOf('KubeletConfig'),
    ownHealthChecks: namesOf('NodeHealthCheck'),
  }
  const served = servedOf(catalog, observed.served)
  return {
    hardware,
    facts: {
      hco: hcoFactsOf(catalog, observed.hco),
      served,
      hardware: mapMembers(hardware, ({ value }) => value) as Hardware,
      topology: detectTopology(sources),
      ...poolFacts(sources),
      sections: previous.sections,
      ...answersOf(catalog, served, observed.schemas),
      images: observed.images,
    },
  }
}

/** The schemas that the catalog needs on a cluster that serves these kinds. */
export const schemaQueries = (
  catalog: Catalog,
  known: Pick<Facts, 'served' | 'hco'>,
): readonly KindQuery[] => {
  const asked = [
    ...catalog.map((asset) => ({ at: identityOn(asset, known), question: undefined })),
    ...schemaQuestions(catalog).map((question) => ({
      at: kindAsked(question, known.served),
      question,
    })),
  ]
  const byKind = Map.groupBy(asked, ({ at }) => at && schemaKey(at))
  return [...byKind.values()].flatMap((alike) => {
    const pointers = (about: SchemaQuestion['about']) =>
      alike.flatMap(({ question }) => (question?.about === about ? question.pointer : []))
    const [{ at } = {}] = alike
    if (!at) return []
    const { apiVersion, kind } = at
    return { apiVersion, kind, enumPointers: pointers('enum'), fieldPointers: pointers('field') }
  })
}

/** The kind that a question is about, in the version that an asset of ours would be written or found in. */
function kindAsked({ group, kind, versions }: SchemaQuestion, served: Facts['served']) {
  const there = served[kindKey({ group, kind })] ?? []
  const version = versions?.find((candidate) => there.includes(candidate)) ?? there[0]
  return version === undefined ? undefined : { apiVersion: apiVersionOf(group, version), kind }
}

/** The kinds that the catalog names, in its assets and its conditions. */
export const kindsIn = (catalog: Catalog) =>
  catalog.flatMap((asset) => [
    asset.object,
    ...conditionsOf(asset).filter((condition) => condition.type === 'crd'),
  ])

/** The served versions of the kinds that the catalog names. */
export function servedOf(catalog: Catalog, served: Served): Facts['served'] {
  const keys = [...new Set(kindsIn(catalog).map(kindKey))].sort()
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
