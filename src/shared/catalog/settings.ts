import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
} from '../engine/annotations.ts'
import type { Problem } from '../engine/problem.ts'
import { err, ok, type Result } from '../engine/result.ts'
import { showValue } from '../engine/show.ts'
import type { Asset, Catalog } from './catalog.ts'
import { type Exclusion, parseExclusions } from './exclusions.ts'
import { matchesGlob } from './glob.ts'
import { nearest, suggesting } from './nearest.ts'

/** What the HyperConverged's annotations say about the whole product. */
export interface Settings {
  readonly activation: Activation
  readonly exclusions: readonly Exclusion[]
  /** Absent: the flag decides. */
  readonly disruptiveChanges?: 'apply' | 'hold'
  /** Absent: the flag decides. */
  readonly enforcement?: 'correct' | 'deny'
}

export type Activation =
  | { readonly kind: 'all' | 'off' | 'observe' }
  | { readonly kind: 'only'; readonly names: readonly string[] }

/** The annotations of a HyperConverged as far as anyone stated them, by key. */
export type Annotations = Readonly<Record<string, string>>

export interface ReadSettings {
  readonly settings: Settings
  /** A text for each stated setting that reads as what is in force, whatever the annotation itself says. */
  readonly valid: Annotations
  readonly problems: readonly Problem[]
}

/**
 * Reads the settings. An invalid one keeps its last valid meaning; where none is known nothing is
 * written, corrected or rolled, so that a typo never fails open.
 */
export function readSettings(annotations: Annotations, lastValid: Annotations = {}): ReadSettings {
  const problems: Problem[] = []
  const valid: Record<string, string> = {}
  const read = <T>(key: string, parse: Parse<T>, fallback?: string): T | undefined => {
    const stated = annotations[key]
    if (stated === undefined) return undefined
    const result = parse(stated)
    if (!result.ok) problems.push({ ...INVALID, annotation: key, message: result.error })
    const inForce = firstValid([stated, lastValid[key], fallback], parse)
    if (inForce) valid[key] = inForce.text
    return inForce?.meaning
  }
  const activation = read(AUTOPILOT, bounded(parseActivation), 'observe') ?? { kind: 'all' }
  const exclusions = read(DISABLED_RESOURCES, bounded(parseExclusions), '["*"]') ?? []
  const disruptiveChanges = read(DISRUPTIVE_CHANGES, oneOf('apply', 'hold'), 'hold')
  const enforcement = read(ENFORCEMENT, oneOf('correct', 'deny'))
  const settings = {
    activation,
    exclusions,
    ...(disruptiveChanges && { disruptiveChanges }),
    ...(enforcement && { enforcement }),
  }
  return { settings, valid, problems }
}

const INVALID = { reason: 'InvalidSetting' } as const

function firstValid<T>(texts: readonly (string | undefined)[], parse: Parse<T>) {
  for (const text of texts.filter((candidate) => candidate !== undefined)) {
    const result = parse(text)
    if (result.ok) return { text, meaning: result.value }
  }
  return undefined
}

/** Whether the activation selects the asset: by its own name or its group's. */
export const isSelected = (
  activation: Activation,
  { name, group }: Pick<Asset, 'name' | 'group'>,
) =>
  activation.kind !== 'only' || activation.names.includes(name) || activation.names.includes(group)

const MOST_NAMED = 5

/**
 * A sentence for each entry of `autopilot` and `disabled-resources` that selects no asset, with the nearest
 * that would, if one is near; the first few of them.
 */
export function unknownNames(
  { activation, exclusions }: Settings,
  catalog: Catalog,
): readonly string[] {
  const assets = catalog.flatMap(({ name, group }) => [name, `${group}/${name}`])
  const selectable = catalog.flatMap(({ name, group }) => [name, group])
  const selected = activation.kind === 'only' ? activation.names : []
  const excluded = exclusions.flatMap((exclusion) =>
    'asset' in exclusion ? [exclusion.asset] : [],
  )
  const wholeGroups = catalog.map(({ group }) => `${group}/*`)
  return [
    ...unknownAmong(selected, selectable, [...selectable, ...SWITCHES.keys()]).map(([name, near]) =>
      suggesting(`no asset or group is named ${name}`, near, SEE_ALL_NAMES),
    ),
    ...unknownAmong(excluded, assets, [...assets, ...wholeGroups]).map(([name, near]) =>
      suggesting(`no asset to disable is named ${name}`, near, SEE_ALL_NAMES),
    ),
    ...unknownObjects(exclusions, catalog),
  ]
}

function unknownObjects(exclusions: readonly Exclusion[], catalog: Catalog): readonly string[] {
  const stated = exclusions.filter((exclusion) => 'kind' in exclusion)
  const objects = catalog.map(({ object }) => object)
  const kinds = objects.map(({ kind }) => kind)
  const statedKinds = stated.map(({ kind }) => kind)
  return [
    ...unknownAmong(statedKinds, kinds, kinds).map(([kind, near]) =>
      suggesting(`no object to disable is of kind ${kind}`, near, SEE_ALL_NAMES),
    ),
    ...[...Map.groupBy(stated, ({ kind }) => kind)].flatMap(([kind, ofKind]) => {
      const names = objects.filter((o) => matchesGlob(kind, o.kind)).map(({ name }) => name)
      const statedNames = names.length === 0 ? [] : ofKind.map(({ name }) => name)
      const what = `no object of kind ${showValue('', kind)} to disable is named`
      return unknownAmong(statedNames, names, names).map(([name, near]) =>
        suggesting(`${what} ${name}`, near, SEE_ALL_NAMES),
      )
    }),
  ].slice(0, MOST_NAMED)
}

/** The patterns that match no name, as they are shown, each with the nearest suggestion. */
const unknownAmong = (
  patterns: readonly string[],
  names: readonly string[],
  suggestions: readonly string[],
) =>
  [...new Set(patterns)]
    .filter((pattern) => !names.some((name) => matchesGlob(pattern, name)))
    .slice(0, MOST_NAMED)
    .map((pattern) => {
      const near = nearest(pattern, suggestions)
      return [showValue('', pattern), near === undefined ? near : `"${near}"`] as const
    })

/** What to do about a name that is like none. */
export const SEE_ALL_NAMES = '`virt-platform-autopilot render -o status` lists all that there are'

type Parse<T> = (text: string) => Result<T, string>

/** Room for every name there is, and little enough to be read within a request. */
const MAX_LENGTH = 16 * 1024

const bounded =
  <T>(parse: Parse<T>): Parse<T> =>
  (text) =>
    text.length > MAX_LENGTH ? err(`must not be longer than ${MAX_LENGTH} characters`) : parse(text)

const oneOf =
  <T extends string>(...choices: readonly T[]): Parse<T> =>
  (text) => {
    const choice = choices.find((candidate) => candidate === text)
    return choice
      ? ok(choice)
      : err(`must be ${choices.map((c) => `"${c}"`).join(' or ')}, not ${showValue('', text)}`)
  }

const SWITCHES: ReadonlyMap<string, Activation> = new Map([
  ['true', { kind: 'all' }],
  ['false', { kind: 'off' }],
  ['observe', { kind: 'observe' }],
])
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/
// What people write for a switch elsewhere: as a list of names it would select nothing.
const ALMOST_SWITCHES =
  /^([01tfyn]|yes|no|on|off|enabled?|disabled?|none|all|null|true|false|observe)$/

function parseActivation(text: string): Result<Activation, string> {
  const stated = SWITCHES.get(text)
  if (stated) return ok(stated)
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => NAME.test(name) && !ALMOST_SWITCHES.test(name))
    ? ok({ kind: 'only', names })
    : err(
        `must be "true", "false", "observe" or a comma separated list of asset and group names, not ${showValue('', text)}`,
      )
}
