import { isMap, type JsonMap, type KubeObject } from '../../engine/json/object.ts'
import { parsePointer, valueAt } from '../../engine/json/pointer.ts'
import { APPROVE, maxLengthOf, OVERRIDES, PREFIX } from '../annotations.ts'
import { type Asset, type Catalog, conditionsOf } from '../catalog/catalog.ts'
import type { Condition } from '../catalog/condition-schemas.ts'
import type { HcoFacts } from './facts.ts'

/** The fields that some asset reads, and the annotations under our prefix: a write to any other field renders and publishes nothing. */
export const hcoFactsOf = (catalog: Catalog, hco: KubeObject): HcoFacts => hcoFactsFor(catalog)(hco)

/** The same for many a HyperConverged: what the catalog reads is found out once. */
export function hcoFactsFor(catalog: Catalog): (hco: KubeObject) => HcoFacts {
  const fields = fieldsRead(catalog)
  return ({ apiVersion, metadata, spec }) => ({
    apiVersion,
    namespace: metadata.namespace ?? '',
    annotations: annotationFacts(metadata.annotations ?? {}),
    spec: project(spec, fields),
  })
}

/** What of a HyperConverged's facts one asset reads of the spec. */
export const specReadBy = (asset: Asset, { spec }: HcoFacts): JsonMap =>
  project(spec, fieldsRead([asset]))

// Overrides and approvals concern one object or one moment; were they facts, each would render everything anew.
const NO_FACTS: ReadonlySet<string> = new Set([...OVERRIDES, APPROVE])

/** The annotations that are facts, without our prefix. A value that is too long is cut where that can still be seen. */
export const annotationFacts = (annotations: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.keys(annotations)
      .filter((key) => key.startsWith(PREFIX) && !NO_FACTS.has(key))
      .sort()
      .map((key) => [
        key.slice(PREFIX.length),
        (annotations[key] ?? '').slice(0, maxLengthOf(key) + 1),
      ]),
  )

// What lies within another field comes with it: put in by itself, an item would replace its list.
function fieldsRead(catalog: Catalog): readonly (readonly string[])[] {
  const fields = catalog.flatMap((asset) => [
    ...asset.hcoFields,
    ...conditionsOf(asset).flatMap(fieldOf),
  ])
  return [...new Set(fields)]
    .filter((field) => !fields.some((other) => field.startsWith(`${other}/`)))
    .flatMap((field) => {
      const tokens = parsePointer(field)
      return tokens.ok ? [tokens.value] : []
    })
}

const fieldOf = (condition: Condition): readonly string[] => {
  const isGate = condition.type === 'annotation' && condition.gate !== undefined
  if (isGate || condition.type === 'feature-gate') return ['/featureGates']
  return condition.type === 'hco-field-unconfigured' ? [condition.pointer] : []
}

/** The part of a value that the pointers lead to. */
function project(value: unknown, fields: readonly (readonly string[])[]): JsonMap {
  let part: JsonMap = {}
  for (const tokens of fields) {
    const found = valueAt(value, tokens)
    if (found !== undefined) part = put(part, tokens, found)
  }
  return part
}

function put(part: JsonMap, [token, ...rest]: readonly string[], value: unknown): JsonMap {
  if (token === undefined) return isMap(value) ? value : part
  const member = part[token]
  return {
    ...part,
    [token]: rest.length === 0 ? value : put(isMap(member) ? member : {}, rest, value),
  }
}
