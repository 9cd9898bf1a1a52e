import { type JsonMap, mapMembers } from '../../engine/json/object.ts'
import { parsePointer } from '../../engine/json/pointer.ts'
import type { TemplateLocals } from '../../engine/render.ts'
import { ANNOTATION_FORMATS } from '../catalog/annotation-formats.ts'
import { type Asset, identityOf, kindKey } from '../catalog/catalog.ts'
import type { Condition } from '../catalog/condition-schemas.ts'
import { DETECTORS, TOPOLOGY_FIELDS } from '../facts/facts.ts'

/** What a template is rendered with to see whether anything is wrong with it. */
export interface Sample {
  /** `where no fact holds`, as it follows "rendered". */
  readonly when: string
  readonly locals: Omit<TemplateLocals, 'file'>
}

/** What differs from one sample to another. */
interface Cluster {
  readonly when: string
  readonly version: string
  readonly hcoVersion: string
  readonly isFull: boolean
  readonly isOn: (flag: string) => boolean
}

/** Made-up clusters on which the asset's conditions hold: with no other flag, all, or one; in every version of it and the HyperConverged. */
export function samplesFor(asset: Asset, namespace: string): readonly Sample[] {
  const { versions } = asset.object
  const flags = flagsOf(asset)
  const [newest = ''] = versions
  const clusters: readonly Cluster[] = [
    ...versions.flatMap((version) =>
      HCO_VERSIONS.flatMap((hcoVersion) => [
        { version, hcoVersion, when: 'where no fact holds', isFull: false, isOn: () => false },
        { version, hcoVersion, when: 'where every fact holds', isFull: true, isOn: () => true },
      ]),
    ),
    ...flags.map((flag) => ({
      version: newest,
      hcoVersion: HCO_VERSIONS[0],
      when: `where ${flag} holds alone`,
      isFull: false,
      isOn: (other: string) => other === flag,
    })),
  ]
  return clusters.map((cluster) => ({
    when: cluster.when,
    locals: localsOn(asset, cluster, namespace),
  }))
}

const HCO_VERSIONS = ['v1', 'v1beta1'] as const

/** All that is true or false for the template, by the name under which a sample is told. */
const flagsOf = ({ fields, sections }: Asset): readonly string[] => [
  ...DETECTORS,
  ...TOPOLOGY_FIELDS,
  ...Object.keys(fields).map((name) => `field ${name}`),
  ...sections.map(({ name }) => `section ${name}`),
]

function localsOn(asset: Asset, cluster: Cluster, namespace: string): Sample['locals'] {
  const { object, pool, conditions, sections, enums, fields, hcoFields } = asset
  const { version, hcoVersion, isFull, isOn } = cluster
  const inForce = sections.filter(({ name }) => isOn(`section ${name}`))
  const held = [...conditions, ...inForce.flatMap((section) => section.conditions)]
  const asked = held.filter(({ not }) => !not)
  const flagged = (prefix: string, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, isOn(`${prefix}${name}`)]))
  const topology: Readonly<Record<string, unknown>> = {
    ...flagged('', TOPOLOGY_FIELDS),
    provider: isFull ? 'baremetal' : '',
    ...Object.fromEntries(held.flatMap(topologyOf)),
  }
  const offered = offersIn(asked, kindKey(object))
  return {
    object: identityOf(asset, version, sampleOf(object.namespace, namespace)),
    pool: pool === undefined ? pool : 'sample-pool',
    facts: {
      hco: {
        apiVersion: `hco.kubevirt.io/${hcoVersion}`,
        namespace: OF_HCO,
        annotations: Object.fromEntries(asked.flatMap(annotationOf)),
        spec: isFull ? parentsOf(hcoFields) : {},
      },
      hardware: { ...flagged('', DETECTORS), ...Object.fromEntries(held.flatMap(hardwareOf)) },
      topology: {
        ...topology,
        remediationNamespace: topology.remediationTemplate ? 'sample-of-remediation' : '',
      },
      images: Object.fromEntries(
        asked.flatMap((one) => (one.type === 'image' ? [[one.key, `image-${one.key}`]] : [])),
      ),
    },
    enums: mapMembers(enums, (pointer) => offered.get(pointer) ?? []),
    fields: mapMembers(fields, (pointer, name) => offered.has(pointer) || isOn(`field ${name}`)),
    sections: flagged(
      'section ',
      sections.map(({ name }) => name),
    ),
  }
}

// Names that no template writes out by chance.
const OF_HCO = 'sample-of-hco'
const OF_AUTOPILOT = 'sample-of-autopilot'

const sampleOf = (stated: string | undefined, own: string) => {
  if (stated === '$hco') return OF_HCO
  return stated === own ? OF_AUTOPILOT : stated
}

/** What the schema of a kind offers for the conditions to hold, by pointer. */
const offersIn = (asked: readonly Condition[], kind: string) =>
  new Map(
    asked.flatMap((one) =>
      one.type === 'crd' && kindKey(one) === kind && one.offers
        ? [[one.offers.field, one.offers.anyOf ?? []] as const]
        : [],
    ),
  )

function annotationOf(condition: Condition): readonly (readonly [string, string])[] {
  if (condition.type !== 'annotation') return []
  const { key, value = 'true', format } = condition
  return [[key, format ? ANNOTATION_FORMATS[format].example : value]]
}

const hardwareOf = (one: Condition): readonly (readonly [string, boolean])[] =>
  one.type === 'hardware-detection' ? [[one.detector, !one.not]] : []

function topologyOf(one: Condition): readonly (readonly [string, unknown])[] {
  if (one.type !== 'topology') return []
  const { field, value = true, not = false } = one
  if (typeof value === 'boolean') return [[field, value !== not]]
  return not ? [] : [[field, value]]
}

/** A spec in which everything is set that holds one of the fields, and none of the fields, whose types nobody knows. */
function parentsOf(pointers: readonly string[]): JsonMap {
  const spec: Record<string, JsonMap> = {}
  for (const pointer of pointers) {
    const tokens = parsePointer(pointer)
    let place = spec
    for (const token of tokens.ok ? tokens.value.slice(0, -1) : []) {
      place[token] ??= {}
      place = place[token] as Record<string, JsonMap>
    }
  }
  return spec
}
