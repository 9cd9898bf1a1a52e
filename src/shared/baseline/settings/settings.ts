import { formatValue } from '../../engine/format-value.ts'
import { nearest, suggesting } from '../../engine/nearest.ts'
import type { Problem } from '../../engine/problem.ts'
import { err, ok, type Result } from '../../engine/result.ts'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
  lengthProblem,
} from '../annotations.ts'
import type { Catalog } from '../catalog/catalog.ts'
import {
  type Activation,
  parseActivation,
  SWITCHES,
  selectedNames,
  standingBy,
} from './activation.ts'
import { type Exclusion, parseExclusions } from './exclusions.ts'
import { matchesGlob } from './match-names.ts'
import type { OtherAutopilot } from './other-autopilot.ts'

/** What the HyperConverged's annotations say about the whole product. */
export interface Settings {
  readonly activation: Activation
  readonly exclusions: readonly Exclusion[]
  /** Absent: the flag decides. */
  readonly disruptiveChanges?: 'apply' | 'hold'
  /** Absent: the flag decides. */
  readonly enforcement?: 'correct' | 'deny'
}

/** The annotations of a HyperConverged as far as anyone stated them, by key. */
export type Annotations = Readonly<Record<string, string>>

/** What the product does where the HyperConverged does not say: the reconciler’s flag. */
export type DefaultActivation = 'on' | 'observe'

/** What is known of the settings, from one reading of them to the next. */
export interface KnownSettings {
  /** A text for each setting in force that reads as its meaning; one that is not among them was validly absent. */
  readonly valid: Annotations
  /** The stated settings of which no valid meaning was ever known: their text is our caution, and nobody's wish. */
  readonly neverValid: readonly string[]
}

export interface ReadSettings extends KnownSettings {
  readonly settings: Settings
  readonly problems: readonly Problem[]
}

/**
 * Reads the settings. An invalid one keeps its last valid meaning, of which being absent is one. Where none was ever
 * known, nothing is written, corrected or rolled, so that a typo never fails open. `known` is undefined where nothing is.
 * Nothing is written either while another autopilot is active. `byDefault` is what it means that `autopilot` is absent.
 */
export function readSettings(
  annotations: Annotations,
  known?: KnownSettings,
  other: OtherAutopilot = 'absent',
  byDefault: DefaultActivation = 'on',
): ReadSettings {
  const readings = KEYS.flatMap((key) => {
    const stated = annotations[key]
    return stated === undefined ? [] : [{ key, ...readOne(key, stated, known) }]
  })
  const inForce = readings.flatMap(({ key, text }) => (text === undefined ? [] : [[key, text]]))
  const valid = { ...MEANING_OF_ABSENCE[byDefault], ...Object.fromEntries(inForce) }
  const neverValid = readings.flatMap(({ key, isKnown }) => (isKnown ? [] : [key]))
  const problems = readings.flatMap(({ problem }) => problem ?? [])
  return { settings: meaningOf({ valid, neverValid }, other), valid, neverValid, problems }
}

// Spelled out, so that whoever reads what is published and knows of no flag does not write.
const MEANING_OF_ABSENCE: Readonly<Record<DefaultActivation, Annotations>> = {
  on: {},
  observe: { [AUTOPILOT]: 'observe' },
}

/** The text in force of a stated setting, if it is any, and whether that is more than our caution. */
function readOne(key: Key, stated: string, known: KnownSettings | undefined) {
  const message = faultIn(key, stated)
  if (message === undefined) return { text: stated, isKnown: true }
  const problem: Problem = { reason: 'InvalidSetting', annotation: key, message }
  return isMeaningKnown(key, known)
    ? { text: known?.valid[key], isKnown: true, problem }
    : { text: CAUTION[key], isKnown: false, problem }
}

/** What settings mean that another process has read; whoever cannot read one of them is cautious. */
export function settingsInForce(
  { valid, neverValid }: KnownSettings,
  other: OtherAutopilot = 'absent',
): Settings {
  const unread = KEYS.filter((key) => valid[key] !== undefined && faultIn(key, valid[key]))
  return meaningOf({ valid, neverValid: [...neverValid, ...unread] }, other)
}

const isMeaningKnown = (key: Key, known: KnownSettings | undefined) =>
  known !== undefined &&
  !known.neverValid.includes(key) &&
  (known.valid[key] === undefined || faultIn(key, known.valid[key]) === undefined)

function faultIn(key: Key, text: string): string | undefined {
  const excess = lengthProblem(key, text)
  if (excess !== undefined) return excess
  const result: Result<unknown, string> = PARSERS[key](text)
  return result.ok ? undefined : result.error
}

function meaningOf({ valid, neverValid }: KnownSettings, other: OtherAutopilot): Settings {
  const isUnsure = (key: Key) => neverValid.includes(key)
  const read = <T>(key: Key, parse: Parse<T>): T | undefined => {
    const text = isUnsure(key) ? undefined : valid[key]
    const result = text === undefined ? undefined : parse(text)
    return result?.ok ? result.value : undefined
  }
  const stated = read(AUTOPILOT, PARSERS[AUTOPILOT]) ?? { kind: 'all' }
  const mayWrite = !isUnsure(AUTOPILOT) && !isUnsure(DISABLED_RESOURCES)
  const unsure = mayWrite ? undefined : 'InvalidSetting'
  const because = other === 'active' ? 'OtherAutopilot' : unsure
  const disruptiveChanges = isUnsure(DISRUPTIVE_CHANGES)
    ? 'hold'
    : read(DISRUPTIVE_CHANGES, PARSERS[DISRUPTIVE_CHANGES])
  const enforcement = read(ENFORCEMENT, PARSERS[ENFORCEMENT])
  return {
    activation: because ? standingBy(stated, because) : stated,
    exclusions: read(DISABLED_RESOURCES, PARSERS[DISABLED_RESOURCES]) ?? [],
    ...(disruptiveChanges && { disruptiveChanges }),
    ...(enforcement && { enforcement }),
  }
}

const MOST_NAMED = 5

/** A sentence for each of the first names in `autopilot` and `disabled-resources` that select nothing, with what was perhaps meant. */
export function unknownNames(
  { activation, exclusions }: Settings,
  catalog: Catalog,
): readonly string[] {
  const assets = catalog.flatMap(({ name, group }) => [name, `${group}/${name}`])
  const selectable = catalog.flatMap(({ name, group }) => [name, group])
  const selected = selectedNames(activation) ?? []
  const excluded = exclusions.flatMap((exclusion) =>
    'asset' in exclusion ? [exclusion.asset] : [],
  )
  const wholeGroups = catalog.map(({ group }) => `${group}/*`)
  return [
    ...unknownAmong('no asset or group is named', selected, selectable, SWITCHES.keys()),
    ...unknownAmong('no asset to disable is named', excluded, assets, wholeGroups),
    ...unknownObjects(exclusions, catalog),
  ]
}

function unknownObjects(exclusions: readonly Exclusion[], catalog: Catalog): readonly string[] {
  const stated = exclusions.filter((exclusion) => 'kind' in exclusion)
  const objects = catalog.map(({ object }) => object)
  const kinds = objects.map(({ kind }) => kind)
  const statedKinds = stated.map(({ kind }) => kind)
  return [
    ...unknownAmong('no object to disable is of kind', statedKinds, kinds),
    ...[...Map.groupBy(stated, ({ kind }) => kind)].flatMap(([kind, ofKind]) => {
      const names = objects.filter((o) => matchesGlob(kind, o.kind)).map(({ name }) => name)
      const statedNames = names.length === 0 ? [] : ofKind.map(({ name }) => name)
      const what = `no object of kind ${formatValue('', kind)} to disable is named`
      return unknownAmong(what, statedNames, names)
    }),
  ].slice(0, MOST_NAMED)
}

/** A sentence for each pattern that matches no name, with the nearest of the names or of what else may be written. */
const unknownAmong = (
  what: string,
  patterns: readonly string[],
  names: readonly string[],
  others: Iterable<string> = [],
) =>
  [...new Set(patterns)]
    .filter((pattern) => !names.some((name) => matchesGlob(pattern, name)))
    .slice(0, MOST_NAMED)
    .map((pattern) => {
      const near = nearest(pattern, [...names, ...others])
      const quoted = near === undefined ? near : `"${near}"`
      return suggesting(`${what} ${formatValue('', pattern)}`, quoted, SEE_ALL_NAMES)
    })

/** What to do about a name that is like none. */
export const SEE_ALL_NAMES = '`virt-platform-autopilot render -o status` lists all that there are'

type Parse<T> = (text: string) => Result<T, string>

const oneOf =
  <T extends string>(...choices: readonly T[]): Parse<T> =>
  (text) => {
    const choice = choices.find((candidate) => candidate === text)
    return choice
      ? ok(choice)
      : err(`must be ${choices.map((c) => `"${c}"`).join(' or ')}, not ${formatValue('', text)}`)
  }

const PARSERS = {
  [AUTOPILOT]: parseActivation,
  [DISABLED_RESOURCES]: parseExclusions,
  [DISRUPTIVE_CHANGES]: oneOf('apply', 'hold'),
  [ENFORCEMENT]: oneOf('correct', 'deny'),
}
type Key = keyof typeof PARSERS

const KEYS = Object.keys(PARSERS) as readonly Key[]

/** What is published where no valid meaning is known: whoever knows no more than the text does nothing either. */
const CAUTION: Partial<Record<Key, string>> = {
  [AUTOPILOT]: 'observe',
  [DISABLED_RESOURCES]: '["*"]',
  [DISRUPTIVE_CHANGES]: 'hold',
}
