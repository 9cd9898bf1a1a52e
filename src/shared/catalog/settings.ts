import { closest } from 'fastest-levenshtein'
import { parseDocument } from 'yaml'

import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
} from '../engine/annotations.ts'
import { isMap } from '../engine/object.ts'
import type { Problem } from '../engine/problem.ts'
import { err, ok, type Result } from '../engine/result.ts'
import type { Asset, Catalog } from './catalog.ts'
import { matchesGlob } from './glob.ts'

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

/** One entry of `disabled-resources`: a glob over asset names and `group/asset`, or over objects. */
export type Exclusion =
  | { readonly asset: string }
  | { readonly kind: string; readonly name: string; readonly namespace?: string }

/** The annotations of a HyperConverged as far as anyone stated them, by key. */
export type Annotations = Readonly<Record<string, string>>

export interface ReadSettings {
  readonly settings: Settings
  /** The text of each setting that is in force, to be kept for a time when the annotation is invalid. */
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
  const read = <T>(key: string, parse: Parse<T>, fallback: T): T | undefined => {
    const stated = Object.hasOwn(annotations, key) ? annotations[key] : undefined
    if (stated === undefined) return undefined
    const result = parse(stated)
    if (!result.ok)
      problems.push({ reason: 'InvalidSetting', annotation: key, message: result.error })
    const text = result.ok ? stated : lastValid[key]
    if (text === undefined) return fallback
    valid[key] = text
    const meaning = parse(text)
    return meaning.ok ? meaning.value : fallback
  }
  const nothing: Activation = { kind: 'observe' }
  const activation = read(AUTOPILOT, parseActivation, nothing) ?? { kind: 'all' }
  const everything: readonly Exclusion[] = [{ asset: '*' }]
  const exclusions = read(DISABLED_RESOURCES, parseExclusions, everything) ?? []
  const disruptiveChanges = read(DISRUPTIVE_CHANGES, oneOf('apply', 'hold'), 'hold')
  const enforcement = read<'correct' | 'deny' | undefined>(
    ENFORCEMENT,
    oneOf('correct', 'deny'),
    undefined,
  )
  return {
    settings: {
      activation,
      exclusions,
      ...(disruptiveChanges && { disruptiveChanges }),
      ...(enforcement && { enforcement }),
    },
    valid,
    problems,
  }
}

/** Whether the activation selects the asset: by its own name or its group's. */
export const isSelected = ({ kind, ...rest }: Activation, asset: Pick<Asset, 'name' | 'group'>) =>
  kind !== 'only' ||
  ('names' in rest && [asset.name, asset.group].some((n) => rest.names.includes(n)))

/** Whether `disabled-resources` switches the asset off. */
export const isExcluded = (
  exclusions: readonly Exclusion[],
  asset: Pick<Asset, 'name' | 'group' | 'object'>,
  namespace: string | undefined,
) =>
  exclusions.some((exclusion) =>
    'asset' in exclusion
      ? [asset.name, `${asset.group}/${asset.name}`].some((n) => matchesGlob(exclusion.asset, n))
      : matchesGlob(exclusion.kind, asset.object.kind) &&
        matchesGlob(exclusion.name, asset.object.name) &&
        (exclusion.namespace === undefined || matchesGlob(exclusion.namespace, namespace ?? '')),
  )

/** A sentence for each name in the `autopilot` list that no asset and no group bears, with the nearest that one does. */
export function unknownNames({ activation }: Settings, catalog: Catalog): readonly string[] {
  if (activation.kind !== 'only') return []
  const known = [...new Set(catalog.flatMap(({ name, group }) => [name, group]))]
  return activation.names
    .filter((name) => !known.includes(name))
    .map((name) => `no asset or group is named "${name}": did you mean "${closest(name, known)}"?`)
}

type Parse<T> = (text: string) => Result<T, string>

const oneOf =
  <T extends string>(...choices: readonly T[]): Parse<T> =>
  (text) => {
    const choice = choices.find((candidate) => candidate === text)
    return choice
      ? ok(choice)
      : err(`must be ${choices.map((c) => `"${c}"`).join(' or ')}, not ${JSON.stringify(text)}`)
  }

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/
const ALMOST_SWITCHES = new Set(['yes', 'no', 'on', 'off', 'enabled', 'disabled', 'none', 'all'])

function parseActivation(text: string): Result<Activation, string> {
  if (text === 'true') return ok({ kind: 'all' })
  if (text === 'false') return ok({ kind: 'off' })
  if (text === 'observe') return ok({ kind: 'observe' })
  const names = text.split(',').map((name) => name.trim())
  const isList = names.every(
    (name) =>
      NAME.test(name) && !ALMOST_SWITCHES.has(name) && !['true', 'false', 'observe'].includes(name),
  )
  return isList
    ? ok({ kind: 'only', names })
    : err(
        `must be "true", "false", "observe" or a comma separated list of asset and group names, not ${JSON.stringify(text)}`,
      )
}

const EXCLUSION_FIELDS = new Set(['kind', 'name', 'namespace'])

function parseExclusions(text: string): Result<readonly Exclusion[], string> {
  const document = parseDocument(text)
  const broken = document.errors[0] ?? document.warnings[0]
  if (broken) return err(`must be a YAML list: ${broken.message.split('\n')[0]}`)
  const list: unknown = toPlain(document)
  if (!Array.isArray(list))
    return err('must be a YAML list of names, or of {kind, name, namespace}')
  const exclusions: Exclusion[] = []
  for (const [index, item] of list.entries()) {
    const exclusion = parseExclusion(item)
    if (!exclusion.ok) return err(`item ${index} ${exclusion.error}`)
    exclusions.push(exclusion.value)
  }
  return ok(exclusions)
}

// An alias bomb throws here, not while parsing.
function toPlain(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS()
  } catch {
    return undefined
  }
}

function parseExclusion(item: unknown): Result<Exclusion, string> {
  if (typeof item === 'string' && item !== '') return ok({ asset: item })
  if (!isMap(item)) return err('must be a name or {kind, name, namespace}')
  const unknown = Object.keys(item).find((field) => !EXCLUSION_FIELDS.has(field))
  if (unknown !== undefined) return err(`has the unknown field "${unknown}"`)
  const { kind, name, namespace } = item
  if (typeof kind !== 'string' || typeof name !== 'string') {
    return err('must have a kind and a name, both strings')
  }
  if (namespace !== undefined && typeof namespace !== 'string') {
    return err('has a namespace that is no string')
  }
  return ok({ kind, name, ...(namespace !== undefined && { namespace }) })
}
