import { isMap } from '../../engine/json/object.ts'
import { parsePointer, valueAt } from '../../engine/json/pointer.ts'
import { AUTOPILOT, PREFIX } from '../annotations.ts'
import { ANNOTATION_FORMATS, isOff } from '../catalog/annotation-formats.ts'
import type { Condition } from '../catalog/condition-schemas.ts'
import { answerKey, type Detector, type Facts } from './facts.ts'
import { KUBELET_FOLDER } from './kubelet-unit.ts'
import { neverHere } from './never-here.ts'

/** Whether the condition holds; throws when it cannot be evaluated, which is never the same as false. */
export const holds = (condition: Condition, facts: Facts): boolean =>
  evaluate(condition, facts) !== (condition.not ?? false)

/** The condition that keeps an asset or a section from applying: one that never holds on this cluster, before all others. */
export const obstacleIn = (conditions: readonly Condition[], facts: Facts) =>
  conditions.find((condition) => neverHere(condition, facts) !== undefined) ??
  conditions.find((condition) => !holds(condition, facts))

/** What there is to say of a condition that does not hold. */
export const describeObstacle = (condition: Condition, facts: Facts) =>
  neverHere(condition, facts) ?? `waits until ${describeCondition(condition)}`

/** Whether the condition is somebody's word that the asset is wanted. */
export const isOptIn = ({ type, not }: Condition) =>
  !not && (type === 'annotation' || type === 'feature-gate')

/** Whether somebody's word is there for each of the conditions that is one. */
export const areOptInsHeld = (conditions: readonly Condition[], facts: Facts) =>
  conditions.filter(isOptIn).every((condition) => holds(condition, facts))

/** Whether the condition is no matter of what a cluster is: something is in the way of the asset, which people may want to know of. */
export const isObstacle = (condition: Condition) =>
  condition.type === 'topology' && OBSTACLES[condition.field] !== undefined

const foreignKubeletConfig = (pool: string) =>
  [
    `a KubeletConfig that is not ours selects the pool ${pool}`,
    `no KubeletConfig but ours selects the pool ${pool}: they are not merged, and the newest wins`,
  ] as const

const dropIns = (pool: string, release: string) =>
  [
    `the kubelets of the pool ${pool} read ${KUBELET_FOLDER}, which they do from OpenShift ${release} on`,
    `the kubelets of the pool ${pool} do not read ${KUBELET_FOLDER}`,
  ] as const

const foreignHealthCheck = [
  'a NodeHealthCheck that is not ours selects nodes that ours does',
  'no NodeHealthCheck but ours selects the nodes that ours does: two would remediate one node at the same time',
] as const

/** What is to be so where the fact must be true, and where it must be false. */
const OBSTACLES: Readonly<
  Partial<Record<Of<'topology'>['field'], readonly [whereTrue: string, whereFalse: string]>>
> = {
  foreignKubeletConfig: foreignKubeletConfig('worker'),
  foreignMasterKubeletConfig: foreignKubeletConfig('master'),
  foreignQuota: [
    'there is another AAQ than the one of the HyperConverged',
    'there is no AAQ but the one of the HyperConverged',
  ],
  kubeletDropIns: dropIns('worker', '4.21'),
  masterKubeletDropIns: dropIns('master', '4.23'),
  foreignSwapManager: [
    'wasp-agent manages swap, or is about to',
    `wasp-agent does not manage swap: HCO deploys it where memoryOvercommitPercentage is above 100, unless it is 1.18 or newer and ${AUTOPILOT} is "true" or lists swap-enable`,
  ],
  foreignNodeHealthCheck: foreignHealthCheck,
  foreignMasterNodeHealthCheck: foreignHealthCheck,
  remediationTemplate: [
    'there is a SelfNodeRemediationTemplate self-node-remediation-automatic-strategy-template, which the Self Node Remediation operator makes',
    'there is no SelfNodeRemediationTemplate self-node-remediation-automatic-strategy-template',
  ],
}

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
      return isDetected(facts, condition)
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
      return `${condition.detector} on some node${isNameable(condition) ? `, or ${PREFIX}${DEVICES} names some` : ''}`
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
  const [whereTrue, whereFalse] = OBSTACLES[field] ?? []
  return (value ? whereTrue : whereFalse) ?? `the topology is ${field}=${value}`
}

type Of<Type> = Extract<Condition, { readonly type: Type }>

/** Whether the API of a condition is there, whatever it offers. */
export const isServed = ({ served }: Facts, { group, kind, versions }: Of<'crd'>) =>
  (served[`${group}/${kind}`] ?? []).some((version) => versions?.includes(version) ?? true)

/** Devices that somebody names count without any label, which only some classes have, and where Node Feature Discovery runs. */
const isDetected = ({ hardware, hco }: Facts, condition: Of<'hardware-detection'>) =>
  known(hardware[condition.detector], condition.detector) ||
  (isNameable(condition) && namesDevices(hco.annotations[DEVICES]))

const DEVICES = 'vfio-device-ids'

const isNameable = ({ detector }: Of<'hardware-detection'>) => NAMEABLE.has(detector)

const NAMEABLE: ReadonlySet<Detector> = new Set([
  'pciDevicesPresent',
  'amd64PciDevicesOnWorkers',
  'amd64PciDevicesOnMasters',
])

// A list that is none is a mistake of the assets that it asks for, and of no other.
const namesDevices = (text = '') =>
  !isOff(text) && ANNOTATION_FORMATS['device-ids'].problemOf(text) === undefined

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
