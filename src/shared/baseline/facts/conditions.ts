import { isMap } from '../../engine/json/object.ts'
import { parsePointer, valueAt } from '../../engine/json/pointer.ts'
import { PREFIX } from '../annotations.ts'
import { ANNOTATION_FORMATS, isOff } from '../catalog/annotation-formats.ts'
import type { Condition } from '../catalog/condition-schemas.ts'
import { answerKey, type Facts } from './facts.ts'

/** Whether the condition holds; throws when it cannot be evaluated, which is never the same as false. */
export const holds = (condition: Condition, facts: Facts): boolean =>
  evaluate(condition, facts) !== (condition.not ?? false)

/** Whether the condition is somebody's word that the asset is wanted. */
export const isOptIn = ({ type, not }: Condition) =>
  !not && (type === 'annotation' || type === 'feature-gate')

/** The condition as people read it in an event or on a status page. */
export function describeCondition(condition: Condition): string {
  const text = describe(condition)
  return condition.not ? `not (${text})` : text
}

function evaluate(condition: Condition, facts: Facts): boolean {
  switch (condition.type) {
    case 'crd':
      return isServed(facts, condition) && isOffered(facts, condition)
    case 'annotation':
      return isAnnotated(facts, condition)
    case 'hardware-detection':
      return known(facts.hardware[condition.detector], condition.detector)
    case 'topology':
      return known(facts.topology[condition.field], condition.field) === (condition.value ?? true)
    case 'feature-gate':
      return isGateOn(facts.hco.spec.featureGates, condition.name)
    case 'image':
      return Object.hasOwn(facts.images, condition.key) && facts.images[condition.key] !== ''
    case 'hco-field-unconfigured':
      return isUnconfigured(facts.hco.spec, condition.pointer)
  }
}

function describe(condition: Condition): string {
  switch (condition.type) {
    case 'crd':
      return `the API ${condition.group}/${condition.kind} ${describeOffer(condition)}`
    case 'annotation':
      return `the HyperConverged is annotated ${PREFIX}${condition.key}=${wantedValue(condition)}${describeGate(condition)}`
    case 'hardware-detection':
      return `${condition.detector} on some node`
    case 'topology':
      return describeTopology(condition)
    case 'feature-gate':
      return `the HyperConverged's feature gate ${condition.name} is on`
    case 'image':
      return `the image ${condition.key} is known`
    case 'hco-field-unconfigured':
      return `the HyperConverged does not set ${condition.pointer}`
  }
}

function describeTopology({ field, value = true }: Of<'topology'>): string {
  if (field === 'foreignQuota' && value === false)
    return 'there is no AAQ but the one of the HyperConverged'
  return `the topology is ${field}=${value}`
}

type Of<Type> = Extract<Condition, { readonly type: Type }>

/** Whether the API of a condition is there, whatever it offers. */
export const isServed = ({ served }: Facts, { group, kind, versions }: Of<'crd'>) =>
  (served[`${group}/${kind}`] ?? []).some((version) => versions?.includes(version) ?? true)

function isOffered({ enums, fields }: Facts, { group, kind, offers }: Of<'crd'>): boolean {
  if (!offers) return true
  const key = answerKey({ group, kind }, offers.field)
  if (!offers.anyOf) return known(fields[key], key)
  return offers.anyOf.some((value) => known(enums[key], key).includes(value))
}

function describeOffer({ offers }: Of<'crd'>): string {
  if (!offers) return 'is served'
  return `is served and offers ${[offers.field, offers.anyOf?.join(' or ')].filter(Boolean).join(' ')}`
}

/** Throws where the value is none of the format's: what an admin wanted must not be guessed. */
function isAnnotated({ hco }: Facts, condition: Of<'annotation'>): boolean {
  const { key, value = 'true', format, gate } = condition
  const stated = hco.annotations[key]
  if (stated === undefined && gate !== undefined) return isGateOn(hco.spec.featureGates, gate)
  if (!format) return stated === value
  if (stated === undefined || isOff(stated)) return false
  const problem = ANNOTATION_FORMATS[format].problemOf(stated)
  if (problem !== undefined) throw new Error(`the annotation ${PREFIX}${key} ${problem}`)
  return true
}

const describeGate = ({ gate }: Of<'annotation'>) =>
  gate === undefined ? '' : `, or has the feature gate ${gate} on`

const wantedValue = ({ value = 'true', format }: Of<'annotation'>) =>
  format ? ANNOTATION_FORMATS[format].placeholder : value

function known<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`the fact ${name} is not known`)
  return value
}

// HyperConverged v1 has a list of {name, state}; v1beta1 a map of booleans.
function isGateOn(gates: unknown, name: string): boolean {
  if (isMap(gates)) return gates[name] === true
  if (!Array.isArray(gates)) return false
  return gates.some((gate) => isMap(gate) && gate.name === name && gate.state !== 'Disabled')
}

function isUnconfigured(spec: Facts['hco']['spec'], pointer: string): boolean {
  const tokens = parsePointer(pointer)
  if (!tokens.ok) throw new Error(`hco-field-unconfigured: "${pointer}" ${tokens.error}`)
  const value = valueAt(spec, tokens.value)
  return value === undefined || value === null || (isMap(value) && Object.keys(value).length === 0)
}
