import { canonicalJson } from '../engine/json/canonical.ts'
import type { KubeObject } from '../engine/json/object.ts'
import { renderBaseline } from './catalog/baseline.ts'
import {
  type Asset,
  apiVersionOf,
  type Catalog,
  identityOf,
  isHyperConverged,
  namespaceOf,
  servedVersion,
} from './catalog/catalog.ts'
import type { Condition } from './catalog/condition-schemas.ts'
import { isUnanswered } from './catalog/schema-questions.ts'
import {
  areOptInsHeld,
  describeObstacle,
  isObstacle,
  isOptIn,
  isServed,
  obstacleIn,
} from './facts/conditions.ts'
import type { Facts } from './facts/facts.ts'
import { type Activation, isSelected, selectedNames } from './settings/activation.ts'
import { isExcluded } from './settings/exclusions.ts'
import type { Settings } from './settings/settings.ts'

/** Where an asset stands under given facts and settings, before any override on its object. */
export type AssetStatus =
  | { readonly kind: 'active'; readonly baseline: KubeObject; readonly digest: string }
  | {
      readonly kind: 'inactive'
      readonly reason:
        | 'NotSelected'
        | 'Excluded'
        | 'NotServed'
        | 'ConditionFalse'
        | 'NotApplicable'
        | 'Superseded'
        | 'SchemaMissing'
      readonly message: string
      /** The API that is not served although somebody asked for the asset: worth an alert. */
      readonly missed?: MissedApi
      /** Something is in the way of an asset that somebody asked for, or that most clusters have; no API, nor the cluster's shape. */
      readonly isAwaited?: true
    }
  /** Its object is deleted. */
  | { readonly kind: 'tombstone' }
  | { readonly kind: 'failed'; readonly reason: 'RenderFailed'; readonly message: string }

/** An API that an asset needs; the newest of the versions that would do. */
export interface MissedApi {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** SHA-256 of a text, hexadecimal. */
export type Digest = (text: string) => string

/** Decides whether an asset is active and renders its baseline. Throws never: a fault of the asset is a status. */
export function statusOf(
  asset: Asset,
  facts: Facts,
  settings: Pick<Settings, 'activation' | 'exclusions'>,
  digest: Digest,
): AssetStatus {
  const { activation, exclusions } = settings
  if (!isSelected(activation, asset)) return inactive('NotSelected', 'not in the autopilot list')
  if (isExcluded(exclusions, asset, namespaceOf(asset, facts.hco.namespace))) {
    return inactive('Excluded', 'switched off by disabled-resources')
  }
  const object = identityOn(asset, facts)
  if (object && asset.isTombstone) return { kind: 'tombstone' }
  try {
    const isAsked = isAskedFor(asset, facts, activation)
    if (!object) return notServed(asset, isAsked)
    const statusOfOther = (other: Asset) => statusOf(other, facts, settings, digest)
    const obstacle = obstacleOf(asset, facts, isAsked, statusOfOther)
    if (obstacle) return obstacle
    const baseline = renderBaseline(asset, object, facts)
    return baseline
      ? { kind: 'active', baseline, digest: digest(canonicalJson(baseline)) }
      : inactive('NotApplicable', 'nothing to set on this cluster', awaited(asset, isAsked))
  } catch (error) {
    return { kind: 'failed', reason: 'RenderFailed', message: (error as Error).message }
  }
}

/** Why the asset is not active although its API is there; undefined where nothing is in the way. */
function obstacleOf(
  asset: Asset,
  facts: Facts,
  isAsked: boolean,
  statusOfOther: (other: Asset) => AssetStatus,
): AssetStatus | undefined {
  if (isUnanswered(asset, facts))
    return inactive('SchemaMissing', 'a schema that it depends on is not published yet')
  const failing = obstacleIn(asset.conditions, facts)
  if (failing) return waiting(asset, failing, isAsked, facts)
  const { yieldsTo, needs } = asset
  if (yieldsTo && statusOfOther(yieldsTo).kind === 'active')
    return inactive('Superseded', `gives way to ${yieldsTo.name}`)
  return needs && unmetNeed(asset, needs, isAsked, statusOfOther(needs))
}

/** What the status of an asset makes of one that needs it; undefined where it is active. */
function unmetNeed(
  asset: Asset,
  { name }: Asset,
  isAsked: boolean,
  status: AssetStatus,
): AssetStatus | undefined {
  if (status.kind === 'active') return undefined
  const isInactive = status.kind === 'inactive'
  // What cannot be decided of the one cannot be of the other.
  if (status.kind === 'failed' || (isInactive && status.reason === 'SchemaMissing')) return status
  const why = isInactive ? `: ${status.message}` : ''
  return inactive(
    'ConditionFalse',
    `needs ${name}, which is not active${why}`,
    awaited(asset, isAsked),
  )
}

/** The status of each asset, by name. */
export type AssetStatuses = ReadonlyMap<string, AssetStatus>

export type DecideStatuses = (facts: Facts, settings: Settings) => AssetStatuses

/** Creates a function that decides every asset's status, and decides nothing anew for what it was last asked. */
export function createStatusDecider(catalog: Catalog, digest: Digest): DecideStatuses {
  let asked = ''
  let statuses: AssetStatuses = new Map()
  return ({ pools: _counts, heirs: _pools, ...facts }, settings) => {
    const question = JSON.stringify([facts, settings])
    if (question === asked) return statuses
    const whole = { ...facts, pools: {} }
    statuses = new Map(
      catalog.map((asset) => [asset.name, statusOf(asset, whole, settings, digest)]),
    )
    asked = question
    return statuses
  }
}

/** The identity of an asset's object on this cluster, in the newest version served; undefined where none is. */
export function identityOn(asset: Asset, facts: Pick<Facts, 'served' | 'hco'>) {
  const version = servedVersion(asset, facts.served)
  return version === undefined
    ? undefined
    : identityOf(asset, version, namespaceOf(asset, facts.hco.namespace))
}

// Whoever asked for an asset wants to know that there is nothing to it.
const awaited = ({ install }: Asset, isAsked: boolean) =>
  isAsked && install === 'opt-in' ? { isAwaited: true as const } : {}

const inactive = (
  reason: Extract<AssetStatus, { kind: 'inactive' }>['reason'],
  message: string,
  wanted: Pick<Extract<AssetStatus, { kind: 'inactive' }>, 'missed' | 'isAwaited'> = {},
): AssetStatus => ({ kind: 'inactive', reason, message, ...wanted })

const notServed = ({ object: { group, versions, kind } }: Asset, isAsked: boolean): AssetStatus =>
  inactive(
    'NotServed',
    `the API ${apiVersionOf(group, versions.join('|'))} ${kind} is not served`,
    isAsked ? { missed: { group, version: versions[0] ?? '', kind } } : {},
  )

/** What a condition that does not hold makes of its asset; where it is a missing API, somebody may miss it. */
function waiting(
  { install }: Asset,
  condition: Condition,
  isAsked: boolean,
  facts: Facts,
): AssetStatus {
  const message = describeObstacle(condition, facts)
  const isMissed = isAsked || (install === 'always' && isObstacle(condition))
  // A cluster of another shape has a twin of the asset, or has no use for it.
  const isShape = condition.type === 'topology' && !isObstacle(condition)
  if (!isMissed || condition.not || isShape || isOptIn(condition))
    return inactive('ConditionFalse', message)
  if (condition.type !== 'crd' || isServed(facts, condition))
    return inactive('ConditionFalse', message, { isAwaited: true })
  const { group, versions: [version = ''] = [], kind } = condition
  return inactive('ConditionFalse', message, { missed: { group, version, kind } })
}

// An asset that is always installed and has no API is simply not applicable; one that was named is missed.
const isAskedFor = (
  { install, conditions, isTombstone }: Asset,
  facts: Facts,
  activation: Activation,
) =>
  (selectedNames(activation) !== undefined && !isTombstone) ||
  (install === 'opt-in' && areOptInsHeld(conditions, facts))

/** Whether we create the object; one that we do not, as the HyperConverged, is applied to only while it exists. */
export const isCreatable = (asset: Asset) => asset.create && !isHyperConverged(asset)

/** Whether the object is to go although it is no tombstone: another asset does its work now, or the cluster has outgrown it and it is pruned. */
export const isObsolete = (status: AssetStatus, { prune }: Pick<Asset, 'prune'>) =>
  status.kind === 'inactive' &&
  (status.reason === 'Superseded' || (prune && OUTGROWN.has(status.reason)))

const OUTGROWN: ReadonlySet<string> = new Set(['ConditionFalse', 'NotApplicable'])
