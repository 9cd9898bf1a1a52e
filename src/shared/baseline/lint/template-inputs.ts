import type { AssetEntry } from '../catalog/catalog.ts'
import { DETECTORS, TOPOLOGY_FIELDS } from '../facts/facts.ts'

/** What a template finds at a path. */
export type Input =
  /** Something, and anything may follow. */
  | { readonly kind: 'value' }
  /** Nothing, ever. */
  | { readonly kind: 'nothing'; readonly fault: string }
  /** Nothing on some clusters. */
  | { readonly kind: 'unsure'; readonly fault: string }
  | {
      readonly kind: 'members'
      readonly members: Readonly<Record<string, Input>>
      /** What is at any other name. */
      readonly other: (name: string) => Input
    }
  /** The HyperConverged's spec, as far as these pointers go. */
  | { readonly kind: 'spec'; readonly fields: readonly string[] }

const VALUE: Input = { kind: 'value' }

/** All that the template of an asset is given, by the names under which it has it. */
export const inputsOf = (asset: AssetEntry): Readonly<Record<string, Input>> => ({
  facts: only('facts', {
    hco: only('facts.hco', {
      apiVersion: VALUE,
      namespace: VALUE,
      annotations: keyed(asset, 'annotation', 'facts.hco.annotations'),
      spec: { kind: 'spec', fields: asset.hcoFields },
    }),
    hardware: only('facts.hardware', values(DETECTORS)),
    topology: only('facts.topology', values([...TOPOLOGY_FIELDS, 'provider'])),
    images: keyed(asset, 'image', 'facts.images'),
  }),
  object: only('object', {
    ...values(['apiVersion', 'kind', 'name']),
    namespace: asset.object.namespace === undefined ? NO_NAMESPACE : VALUE,
  }),
  enums: listed(asset, 'enums', Object.keys(asset.enums)),
  fields: listed(asset, 'fields', Object.keys(asset.fields)),
  sections: listed(
    asset,
    'sections',
    asset.sections.map(({ name }) => name),
  ),
  file: listed(asset, 'files', asset.files),
})

const NO_NAMESPACE: Input = {
  kind: 'unsure',
  fault: 'is not set: the object of the asset has no namespace',
}

const values = (names: readonly string[]): Readonly<Record<string, Input>> =>
  Object.fromEntries(names.map((name) => [name, VALUE]))

const only = (title: string, members: Readonly<Record<string, Input>>): Input => ({
  kind: 'members',
  members,
  other: (name) => ({
    kind: 'nothing',
    fault: `${title} has no "${name}", only ${Object.keys(members).join(', ')}`,
  }),
})

const listed = ({ name }: AssetEntry, list: string, names: readonly string[]): Input => ({
  kind: 'members',
  members: values(names),
  other: (other) => ({
    kind: 'nothing',
    fault: `asset ${name} lists no "${other}" under ${list}: add it there`,
  }),
})

/** Set for sure is what a condition of the asset, or of the section that reads it, asks for. */
function keyed(asset: AssetEntry, type: 'annotation' | 'image', title: string): Input {
  const conditions = [...asset.conditions, ...asset.sections.flatMap((s) => s.conditions)]
  const keys = conditions.flatMap((condition) =>
    condition.type === type && !condition.not ? [condition.key] : [],
  )
  return {
    kind: 'members',
    members: values(keys),
    other: (key) => ({
      kind: 'unsure',
      fault: `may not be set: read it with optional(${title}, '/${key}', …), or give asset ${asset.name} the condition { type: ${type}, key: ${key} }`,
    }),
  }
}
