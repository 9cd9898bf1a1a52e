import { formatValue } from '../../engine/format-value.ts'
import { err, ok, type Result } from '../../engine/result.ts'
import type { Asset } from '../catalog/catalog.ts'

/** Of which assets the product keeps the objects, if it keeps any. */
export type Activation =
  | { readonly kind: 'all' | 'off' }
  | { readonly kind: 'only'; readonly names: readonly string[] }
  | Observation

/** Nothing is written, corrected or refused; all is computed and reported. */
export interface Observation {
  readonly kind: 'observe'
  /** What is selected, where that is not everything. */
  readonly names?: readonly string[]
  /** Why nothing would be written, whatever was asked for. */
  readonly because?: StandbyReason
  /** Somebody asked for it all the same. */
  readonly isWished?: true
}

/** Why nothing is written or corrected although nobody switched the product off. */
export type StandbyReason = 'InvalidSetting' | 'OtherAutopilot'

/** The activation while nothing is to be written; what is switched off stays that. */
export function standingBy(activation: Activation, because: StandbyReason): Activation {
  if (activation.kind === 'off') return activation
  const names = selectedNames(activation)
  const isWished = activation.kind === 'observe' && { isWished: true as const }
  return { kind: 'observe', ...(names && { names }), because, ...isWished }
}

/** Why nothing is written or corrected, whatever was asked for; undefined where that is as it was asked for. */
export const standbyReason = (activation: Activation): StandbyReason | undefined =>
  activation.kind === 'observe' ? activation.because : undefined

/** Whether somebody asked for nothing to be written; whatever else stands in the way may be gone at any time. */
export const isObserving = (activation: Activation): boolean =>
  activation.kind === 'observe' &&
  (activation.because === undefined || activation.isWished === true)

/** The names that are selected; undefined where everything is. */
export const selectedNames = (activation: Activation): readonly string[] | undefined =>
  'names' in activation ? activation.names : undefined

/** Whether the activation selects the asset: by its own name or its group's. */
export const isSelected = (
  activation: Activation,
  { name, group }: Pick<Asset, 'name' | 'group'>,
) => selectedNames(activation)?.some((selected) => selected === name || selected === group) ?? true

/** The texts that are no list of names. */
export const SWITCHES: ReadonlyMap<string, Activation> = new Map([
  ['true', { kind: 'all' }],
  ['false', { kind: 'off' }],
  ['observe', { kind: 'observe' }],
])
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/
// What people write for a switch elsewhere: as a list of names it would select nothing.
const ALMOST_SWITCHES =
  /^([01tfyn]|yes|no|on|off|enabled?|disabled?|none|all|null|true|false|observe)$/

/** Reads `autopilot`; the error completes a sentence that starts with the annotation. */
export function parseActivation(text: string): Result<Activation, string> {
  const stated = SWITCHES.get(text)
  if (stated) return ok(stated)
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => NAME.test(name) && !ALMOST_SWITCHES.test(name))
    ? ok({ kind: 'only', names })
    : err(
        `must be "true", "false", "observe" or a comma separated list of asset and group names, not ${formatValue('', text)}`,
      )
}
