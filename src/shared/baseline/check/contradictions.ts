import { ANNOTATION_FORMATS, isOff } from '../catalog/annotation-formats.ts'
import type { AssetEntry } from '../catalog/catalog-schema.ts'
import type { Condition } from '../catalog/condition-schemas.ts'
import { describeCondition } from '../facts/conditions.ts'
import { IMPLIED_HARDWARE } from '../facts/hardware.ts'

/** A mistake in an entry of a catalog. */
export interface EntryMistake {
  /** Leads from the entry to the member at fault. */
  readonly path: readonly string[]
  /** A phrase that follows the path. */
  readonly message: string
}

/** Conditions that must hold together, and where in the entry each is. */
export interface ConditionList {
  readonly stated: readonly StatedCondition[]
  /** Those of the asset, where the list is a section's. */
  readonly given: readonly StatedCondition[]
}

export interface StatedCondition {
  readonly condition: Condition
  readonly path: readonly string[]
}

/** The conditions of the asset, then of each section. */
export function conditionLists({ conditions, sections }: AssetEntry): readonly ConditionList[] {
  const own = statedAt(['conditions'], conditions)
  return [
    { stated: own, given: [] },
    ...sections.map((section, index) => ({
      stated: statedAt(['sections', String(index), 'conditions'], section.conditions),
      given: own,
    })),
  ]
}

/** An asset is looked at only where its own kind is served. */
export const ownKind = ({ object: { group, kind, versions } }: AssetEntry): StatedCondition => ({
  condition: { type: 'crd', group, kind, versions },
  path: ['object'],
})

const statedAt = (list: readonly string[], conditions: readonly Condition[]) =>
  conditions.map((condition, index) => ({ condition, path: [...list, String(index)] }))

/** Conditions that can never hold together, so that the asset or the section never applies. */
export const contradictions = (asset: AssetEntry): readonly EntryMistake[] =>
  conditionLists(asset).flatMap((list) => contradicting(list, ownKind(asset)))

const contradicting = ({ stated, given }: ConditionList, own: StatedCondition) =>
  stated.flatMap(({ condition, path }, index): readonly EntryMistake[] => {
    const rival = [own, ...given, ...stated.slice(0, index)].find((other) =>
      isExclusive(condition, other.condition),
    )
    if (!rival) return []
    const [mine, its] = [condition, rival.condition].map(describeCondition)
    const message = `never holds together with /${rival.path.join('/')}: "${mine}" against "${its}"; take one of them away`
    return [{ path, message }]
  })

/** Whether two conditions can never hold at once, whatever the facts. */
export const isExclusive = (a: Condition, b: Condition): boolean => excludes(a, b) || excludes(b, a)

type Of<Type> = Extract<Condition, { readonly type: Type }>

function excludes(a: Condition, b: Condition): boolean {
  switch (a.type) {
    case 'annotation':
      return b.type === a.type && a.key === b.key && annotationsExclude(a, b)
    case 'topology':
      return b.type === a.type && a.field === b.field && outcomesExclude(a, b)
    case 'hardware-detection':
      return b.type === a.type && !a.not && b.not === true && implies(a, b)
    case 'feature-gate':
      return b.type === a.type && a.name === b.name && isOpposite(a, b)
    case 'image':
      return b.type === a.type && a.key === b.key && isOpposite(a, b)
    case 'hco-field-unconfigured':
      return b.type === a.type && !a.not && b.not === true && contains(a.pointer, b.pointer)
    case 'crd':
      return b.type === a.type && !a.not && b.not === true && isServedBy(a, b)
  }
}

const isOpposite = (a: Pick<Outcome, 'not'>, b: Pick<Outcome, 'not'>) =>
  (a.not ?? false) !== (b.not ?? false)

/** Of one annotation. Where it is absent a gate decides: then only the very opposite is excluded. */
function annotationsExclude(a: Of<'annotation'>, b: Of<'annotation'>): boolean {
  if (a.gate === undefined && b.gate === undefined) return valuesExclude(a, b)
  return a.gate === b.gate && (a.value ?? 'true') === (b.value ?? 'true') && isOpposite(a, b)
}

/** Of one annotation. A value that is none of its format makes a condition fail, whichever way round. */
function valuesExclude(a: Of<'annotation'>, b: Of<'annotation'>): boolean {
  if (a.format) {
    if (b.format) return a.format === b.format && isOpposite(a, b)
    return !b.not && valueExcludes(b.value ?? 'true', a)
  }
  return !b.format && outcomesExclude({ value: 'true', ...a }, { value: 'true', ...b })
}

function valueExcludes(value: string, { format, not }: Of<'annotation'>): boolean {
  if (!format || isOff(value)) return not !== true
  return not === true || ANNOTATION_FORMATS[format].problemOf(value) !== undefined
}

interface Outcome {
  readonly value?: string | boolean
  readonly not?: boolean
}

/** Of one subject, which has one value; a flag, which is true or false, where nothing else is stated. */
function outcomesExclude(a: Outcome, b: Outcome): boolean {
  const [one, other] = [a.value ?? true, b.value ?? true]
  if (isOpposite(a, b)) return one === other
  return one !== other && (typeof one === 'boolean' || !a.not)
}

const implies = (a: Of<'hardware-detection'>, b: Of<'hardware-detection'>) =>
  a.detector === b.detector || IMPLIED_HARDWARE[a.detector] === b.detector

/** What is in an unset field is unset too. */
const contains = (outer: string, inner: string) => `${inner}/`.startsWith(`${outer}/`)

/** Whether what the one asks for is part of what the other must not find. */
const isServedBy = (wanted: Of<'crd'>, unwanted: Of<'crd'>) =>
  wanted.group === unwanted.group &&
  wanted.kind === unwanted.kind &&
  isAmong(wanted.versions, unwanted.versions) &&
  (!unwanted.offers ||
    (wanted.offers?.field === unwanted.offers.field &&
      isAmong(wanted.offers.anyOf, unwanted.offers.anyOf)))

/** Whether whoever gets one of these gets one of those; any at all, where nothing is listed. */
const isAmong = (these: readonly string[] | undefined, those: readonly string[] | undefined) =>
  !those || (these?.every((one) => those.includes(one)) ?? false)
