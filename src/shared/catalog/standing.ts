import { FIELD_MANAGER, MANAGED_BY } from '../engine/annotations.ts'
import { canonicalJson } from '../engine/canonical.ts'
import type { KubeObject } from '../engine/object.ts'
import { RenderError } from '../engine/render.ts'
import { type Asset, apiVersionOf, isHyperConverged, kindKey, namespaceOf } from './catalog.ts'
import { describeCondition, holds } from './conditions.ts'
import type { Facts } from './facts.ts'
import { isExcluded, isSelected, type Settings } from './settings.ts'

/** Where an asset stands under given facts and settings, before any override on its object. */
export type Standing =
  | { readonly kind: 'active'; readonly baseline: KubeObject; readonly digest: string }
  | {
      readonly kind: 'inactive'
      readonly reason: 'NotSelected' | 'Excluded' | 'NotServed' | 'ConditionFalse' | 'NotApplicable'
      readonly message: string
      /** Somebody asked for the asset and its API is missing: worth an alert. */
      readonly isMissed: boolean
    }
  | { readonly kind: 'failed'; readonly reason: 'RenderFailed'; readonly message: string }

/** SHA-256 of a text, hexadecimal. */
export type Digest = (text: string) => string

/** Decides whether an asset is active and renders its baseline. Throws never: a fault of the asset is a standing. */
export function standingOf(
  asset: Asset,
  facts: Facts,
  settings: Settings,
  digest: Digest,
): Standing {
  const obstacle = obstacleTo(asset, facts, settings)
  if (obstacle) return obstacle
  try {
    const failing = asset.conditions.find((condition) => !holds(condition, facts))
    if (failing) return inactive('ConditionFalse', `waits until ${describeCondition(failing)}`)
    const baseline = renderBaseline(asset, facts)
    return baseline
      ? { kind: 'active', baseline, digest: digest(canonicalJson(baseline)) }
      : inactive('NotApplicable', 'nothing to set on this cluster')
  } catch (error) {
    const message =
      error instanceof RenderError
        ? error.message
        : `${asset.template}: ${(error as Error).message}`
    return { kind: 'failed', reason: 'RenderFailed', message }
  }
}

/** The identity of an asset's object on this cluster, in the newest version served; undefined where none is. */
export function identityOn(asset: Asset, facts: Pick<Facts, 'served' | 'hco'>) {
  const served = facts.served[kindKey(asset.object)] ?? []
  const version = asset.object.versions.find((candidate) => served.includes(candidate))
  if (version === undefined) return undefined
  const namespace = namespaceOf(asset, facts.hco.namespace)
  return {
    apiVersion: apiVersionOf(asset.object.group, version),
    kind: asset.object.kind,
    name: asset.object.name,
    ...(namespace !== undefined && { namespace }),
  }
}

const inactive = (
  reason: Extract<Standing, { kind: 'inactive' }>['reason'],
  message: string,
  isMissed = false,
): Standing => ({ kind: 'inactive', reason, message, isMissed })

function obstacleTo(asset: Asset, facts: Facts, { activation, exclusions }: Settings) {
  // The HyperConverged is the source of facts, so a list of names that leaves it out still reads it.
  if (!isSelected(activation, asset)) return inactive('NotSelected', 'not in the autopilot list')
  if (isExcluded(exclusions, asset, namespaceOf(asset, facts.hco.namespace))) {
    return inactive('Excluded', 'switched off by disabled-resources')
  }
  if (identityOn(asset, facts)) return undefined
  const { group, kind, versions } = asset.object
  const message = `the API ${group}/${versions.join('|')} ${kind} is not served`
  return inactive('NotServed', message, isAskedFor(asset, facts, activation))
}

// An asset that is always installed and has no API is simply not applicable; one that was named is missed.
const isAskedFor = (asset: Asset, facts: Facts, activation: Settings['activation']) =>
  activation.kind === 'only' ||
  (asset.install === 'opt-in' && asset.conditions.every((c) => c.type === 'crd' || holds(c, facts)))

function renderBaseline(asset: Asset, facts: Facts): KubeObject | undefined {
  const object = identityOn(asset, facts)
  if (!object) return undefined
  const { pools: _, ...visible } = facts
  const enums = facts.enums[asset.name] ?? {}
  const rendered = asset.render({ facts: visible, object, enums, file: asset.file })
  if (rendered.kind === 'empty') return undefined
  const { metadata, ...rest } = rendered.object
  const labels = { ...metadata.labels, [MANAGED_BY]: FIELD_MANAGER }
  return { ...rest, metadata: { ...metadata, labels } } as KubeObject
}

/** The HyperConverged comes first and is never created by us: it is applied to only while it exists. */
export const isCreatable = (asset: Asset) => !isHyperConverged(asset)
