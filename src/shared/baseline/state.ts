import { isMap } from '../engine/json/object.ts'
import type { Facts } from './facts/facts.ts'
import type { StickyHardware } from './facts/hardware.ts'
import type { OtherAutopilot } from './settings/other-autopilot.ts'
import { type Annotations, isCaution, type KnownSettings } from './settings/settings.ts'

/** Changes that reboot nodes and that an admin agreed to. */
export interface Approval {
  /** The digest of the set that they were part of, as the admin typed it. */
  readonly digest?: string
  /** How many sets were approved before and with it. */
  readonly count: number
  /** For each asset whose change is still to be made, the digest of what was agreed to. */
  readonly changes: Readonly<Record<string, string>>
}

/** What one leader must know of another. */
export interface Memory {
  /** Undefined before the first look at the nodes. */
  readonly hardware: StickyHardware | undefined
  /** The sections of assets that were in force, as `asset/section`. */
  readonly sections: readonly string[]
  /** The text of each setting in force, by annotation key; undefined before the first look at the HyperConverged. */
  readonly settings: Annotations | undefined
  /** The settings of which no valid meaning was ever known: their text in force is our caution. */
  readonly neverValid: readonly string[]
  /** What another autopilot is doing beside the HyperConverged. */
  readonly otherAutopilot: OtherAutopilot
  /** For each disruptive asset, the digest of what was last applied. */
  readonly applied: Readonly<Record<string, string>>
  readonly approval: Approval
  /** Since when a webhook configuration is away without our doing, epoch milliseconds by its kind. */
  readonly unregistered: Readonly<Record<string, number>>
  /** Whether there is a HyperConverged: without one there is nothing to keep, whatever was kept before. */
  readonly hasHyperConverged: boolean
  /** The uid of the owner under which a webhook configuration was seen registered, by its kind. */
  readonly registered: Readonly<Record<string, string>>
}

/** The memory of a first leader. */
export const UNKNOWN: Memory = {
  hardware: undefined,
  sections: [],
  settings: undefined,
  neverValid: [],
  otherAutopilot: 'absent',
  applied: {},
  approval: { count: 0, changes: {} },
  unregistered: {},
  hasHyperConverged: true,
  registered: {},
}

/**
 * What is known of the settings; undefined for a first leader, who knows nothing, and where the HyperConverged was away: what
 * one did not say is no word on the next.
 */
export const knownSettings = ({
  settings,
  neverValid,
  hasHyperConverged,
}: Pick<Memory, 'settings' | 'neverValid' | 'hasHyperConverged'>): KnownSettings | undefined =>
  hasHyperConverged && settings ? { valid: settings, neverValid } : undefined

/**
 * What the leader publishes, so that every process has one opinion of the desired state: the facts
 * it renders from, the settings in force, and the digest of each baseline.
 */
export interface State extends Memory {
  readonly settings: Annotations
  readonly facts: Facts
  /** Digest of the baseline by name of the active asset. */
  readonly baselines: Readonly<Record<string, string>>
}

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const mapOf =
  (isMember: Check): Check =>
  (value) =>
    isMap(value) && Object.values(value).every(isMember)
const listOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem)
const record =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isMap(value) && Object.entries(members).every(([name, isMember]) => isMember(value[name]))

const isFacts = record({
  hco: record({ apiVersion: isText, namespace: isText, annotations: mapOf(isText), spec: isMap }),
  hardware: isMap,
  topology: isMap,
  served: mapOf(Array.isArray),
  enums: mapOf(Array.isArray),
  fields: mapOf((value) => typeof value === 'boolean'),
  sections: Array.isArray,
  images: mapOf(isText),
  pools: isMap,
})

const isNumber: Check = (value) => typeof value === 'number'
const isOptional =
  (isPart: Check): Check =>
  (value) =>
    value === undefined || isPart(value)

const MEMORY = {
  hardware: mapOf(isMap),
  sections: Array.isArray,
  settings: mapOf(isText),
  neverValid: listOf(isText),
  otherAutopilot: (value) => value === 'absent' || value === 'idle' || value === 'active',
  applied: mapOf(isText),
  approval: record({ digest: isOptional(isText), count: isNumber, changes: mapOf(isText) }),
  unregistered: mapOf(isNumber),
  hasHyperConverged: (value) => typeof value === 'boolean',
  registered: mapOf(isText),
} satisfies Record<keyof Memory, Check>

const PARTS = {
  facts: isFacts,
  ...MEMORY,
  baselines: mapOf(isText),
} satisfies Record<keyof State, Check>

const KEYS = Object.keys(PARTS) as readonly (keyof State)[]

/** The data of the state's ConfigMap: one JSON text for each part. */
export const stateData = (state: State): Readonly<Record<string, string>> =>
  Object.fromEntries(KEYS.map((key) => [`${key}.json`, JSON.stringify(state[key])]))

/** Reads the state back; undefined where the ConfigMap is missing, incomplete or not ours. */
export function parseState(data: unknown): State | undefined {
  const parts = KEYS.map((key) => [key, partOf(data, key) ?? ABSENT_BEFORE[key]])
  const state = Object.fromEntries(parts)
  return record(PARTS)(state) ? (state as unknown as State) : undefined
}

// Parts that a leader of the version before did not publish yet.
const ABSENT_BEFORE: Partial<State> = {
  sections: [],
  neverValid: UNKNOWN.neverValid,
  otherAutopilot: UNKNOWN.otherAutopilot,
  approval: UNKNOWN.approval,
  unregistered: UNKNOWN.unregistered,
  hasHyperConverged: UNKNOWN.hasHyperConverged,
  registered: UNKNOWN.registered,
}

/**
 * Reads back what the last leader knew, part by part: another version of us may have published what we do
 * not understand, and whatever of it can be read is better than starting from nothing.
 */
export function recall(data: unknown): Partial<Pick<State, keyof Memory>> {
  const parts = Object.entries(MEMORY).map(([key, isPart]) => {
    const part = partOf(data, key)
    return isPart(part) ? [[key, part] as const] : []
  })
  const recalled: Partial<Pick<State, keyof Memory>> = Object.fromEntries(parts.flat())
  const { settings, neverValid } = recalled
  // A leader of the version before did not say what was its own caution, and nobody's wish.
  return settings && !neverValid
    ? {
        ...recalled,
        neverValid: Object.keys(settings).filter((key) => isCaution(key, settings[key])),
      }
    : recalled
}

function partOf(data: unknown, key: string): unknown {
  const text = isMap(data) ? data[`${key}.json`] : undefined
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
