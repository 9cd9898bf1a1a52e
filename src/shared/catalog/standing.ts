import { FIELD_MANAGER, MANAGED_BY } from '../engine/annotations.ts'
import { canonicalJson } from '../engine/canonical.ts'
import type { KubeObject } from '../engine/object.ts'
import type { TemplateLocals } from '../engine/render.ts'
import {
  type Asset,
  apiVersionOf,
  type Catalog,
  isHyperConverged,
  namespaceOf,
  servedVersion,
} from './catalog.ts'
import { describeCondition, holds, isOptIn } from './conditions.ts'
import { isExcluded } from './exclusions.ts'
import type { Facts } from './facts.ts'
import { type Activation, isSelected, type Settings } from './settings.ts'

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
  { activation, exclusions }: Settings,
  digest: Digest,
): Standing {
  if (!isSelected(activation, asset)) return inactive('NotSelected', 'not in the autopilot list')
  if (isExcluded(exclusions, asset, namespaceOf(asset, facts.hco.namespace))) {
    return inactive('Excluded', 'switched off by disabled-resources')
  }
  const object = identityOn(asset, facts)
  if (!object) return notServed(asset, isAskedFor(asset, facts, activation))
  try {
    const failing = asset.conditions.find((condition) => !holds(condition, facts))
    if (failing) return inactive('ConditionFalse', `waits until ${describeCondition(failing)}`)
    const baseline = renderBaseline(asset, object, facts)
    return baseline
      ? { kind: 'active', baseline, digest: digest(canonicalJson(baseline)) }
      : inactive('NotApplicable', 'nothing to set on this cluster')
  } catch (error) {
    return { kind: 'failed', reason: 'RenderFailed', message: (error as Error).message }
  }
}

/** The standing of each asset, by name. */
export type Standings = ReadonlyMap<string, Standing>

export type DecideStandings = (facts: Facts, settings: Settings) => Standings

/** Creates a function that decides every asset's standing, and decides nothing anew for what it was last asked. */
export function createStandings(catalog: Catalog, digest: Digest): DecideStandings {
  let asked = ''
  let standings: Standings = new Map()
  return ({ pools: _counts, ...facts }, settings) => {
    const question = JSON.stringify([facts, settings])
    if (question === asked) return standings
    const whole = { ...facts, pools: {} }
    standings = new Map(
      catalog.map((asset) => [asset.name, standingOf(asset, whole, settings, digest)]),
    )
    asked = question
    return standings
  }
}

/** The identity of an asset's object on this cluster, in the newest version served; undefined where none is. */
export function identityOn(asset: Asset, facts: Pick<Facts, 'served' | 'hco'>) {
  const version = servedVersion(asset, facts.served)
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
): Standing => ({ kind: 'inactive', reason, message, isMissed: false })

const notServed = ({ object: { group, versions, kind } }: Asset, isMissed: boolean): Standing => ({
  kind: 'inactive',
  reason: 'NotServed',
  message: `the API ${apiVersionOf(group, versions.join('|'))} ${kind} is not served`,
  isMissed,
})

// An asset that is always installed and has no API is simply not applicable; one that was named is missed.
const isAskedFor = ({ install, conditions }: Asset, facts: Facts, { kind }: Activation) =>
  kind === 'only' ||
  (install === 'opt-in' && conditions.filter(isOptIn).every((condition) => holds(condition, facts)))

function renderBaseline(
  asset: Asset,
  object: TemplateLocals['object'],
  { pools: _, ...facts }: Facts,
): KubeObject | undefined {
  const enums = facts.enums[asset.name] ?? {}
  const rendered = asset.render({ facts, object, enums, file: asset.file })
  if (rendered.kind === 'empty') return undefined
  const { metadata } = rendered.object
  const labels = { ...metadata.labels, [MANAGED_BY]: FIELD_MANAGER }
  return { ...rendered.object, metadata: { ...metadata, labels } }
}

/** The HyperConverged comes first and is never created by us: it is applied to only while it exists. */
export const isCreatable = (asset: Asset) => !isHyperConverged(asset)
