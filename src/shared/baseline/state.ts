import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { type Frozen, mapOf, oneOf } from '../api/schema-parts.ts'
import { isMap } from '../engine/json/object.ts'
import type { Facts } from './facts/facts.ts'
import type { StickyHardware } from './facts/hardware.ts'
import type { Annotations, KnownSettings } from './settings/settings.ts'

const TEXTS = mapOf(Type.String())
const NUMBERS = mapOf(Type.Number())
const LIST = Type.Array(Type.Unknown())
const MAP = mapOf(Type.Unknown())

// Another version of us may know more or fewer of the members that are any map or list here.
const FACTS = Type.Object({
  hco: Type.Object({
    apiVersion: Type.String(),
    namespace: Type.String(),
    annotations: TEXTS,
    spec: MAP,
  }),
  hardware: MAP,
  topology: MAP,
  served: mapOf(LIST),
  enums: mapOf(LIST),
  fields: mapOf(Type.Boolean()),
  sections: LIST,
  images: TEXTS,
  pools: MAP,
  heirs: Type.Optional(mapOf(LIST)),
})

const APPROVAL = Type.Object({
  /** The digest of the set that they were part of, as the admin typed it. */
  digest: Type.Optional(Type.String()),
  /** How many sets were approved before and with it. */
  count: Type.Number(),
  /** For each asset whose change is still to be made, the digest of what was agreed to. */
  changes: TEXTS,
})

/** What one leader must know of another. */
const MEMORY = {
  /** Undefined before the first look at the nodes. */
  hardware: Type.Unsafe<StickyHardware | undefined>(mapOf(MAP)),
  /** The sections of assets that were in force, as `asset/section`. */
  sections: Type.Unsafe<string[]>(LIST),
  /** The text of each setting in force, by annotation key. */
  settings: TEXTS,
  /** The settings of which no valid meaning was ever known: their text in force is our caution. */
  neverValid: Type.Array(Type.String()),
  /** What another autopilot is doing beside the HyperConverged. */
  otherAutopilot: oneOf(['absent', 'idle', 'active'], {}),
  /** What the leader's flag says of changes that reboot nodes; the HyperConverged goes before it. */
  disruptiveChanges: oneOf(['hold', 'apply', 'unknown'], {}),
  /** What the leader's flag says of the whole product; the HyperConverged goes before it. */
  activation: oneOf(['on', 'observe'], {}),
  /** For each disruptive asset, the digest of what was last applied. */
  applied: TEXTS,
  approval: APPROVAL,
  /** Since when a webhook configuration is away without our doing, epoch milliseconds by its kind. */
  unregistered: NUMBERS,
  /** Whether there is a HyperConverged: without one there is nothing to keep, whatever was kept before. */
  hasHyperConverged: Type.Boolean(),
  /** The uid of the owner under which a webhook configuration was seen registered, by its kind. */
  registered: TEXTS,
}

const STATE = {
  facts: Type.Unsafe<Facts>(FACTS),
  ...MEMORY,
  /** Digest of the baseline by name of the active asset. */
  baselines: TEXTS,
}

type Members<Schemas extends Readonly<Record<string, TSchema>>> = Frozen<{
  [Name in keyof Schemas]: Static<Schemas[Name]>
}>

/** What the leader publishes, so that every process has one opinion of the desired state. */
export type State = Members<typeof STATE>

/** What one leader must know of another. */
export interface Memory extends Omit<Members<typeof MEMORY>, 'settings'> {
  /** Undefined before the first look at the HyperConverged. */
  readonly settings: Annotations | undefined
}

/** The memory of a first leader. */
export const UNKNOWN: Memory = {
  hardware: undefined,
  sections: [],
  settings: undefined,
  neverValid: [],
  otherAutopilot: 'absent',
  disruptiveChanges: 'unknown',
  activation: 'on',
  applied: {},
  approval: { count: 0, changes: {} },
  unregistered: {},
  hasHyperConverged: true,
  registered: {},
}

/** What is known of the settings: nothing for a first leader, and where the HyperConverged was away, since the next may say otherwise. */
export const knownSettings = ({
  settings,
  neverValid,
  hasHyperConverged,
}: Pick<Memory, 'settings' | 'neverValid' | 'hasHyperConverged'>): KnownSettings | undefined =>
  hasHyperConverged && settings ? { valid: settings, neverValid } : undefined

const KEYS = Object.keys(STATE) as readonly (keyof State)[]

const ajv = new Ajv({ strict: false, meta: false, validateSchema: false })
const isValid = (key: keyof State, part: unknown) => ajv.validate(STATE[key], part)

/** The data of the state's ConfigMap: one JSON text for each part that is known. */
export const stateData = (state: Partial<State>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    KEYS.flatMap((key) =>
      state[key] === undefined ? [] : [[`${key}.json`, JSON.stringify(state[key])]],
    ),
  )

/** Whether a leader has published that there is no HyperConverged. */
export const tellsOfAbsence = (data: unknown): boolean => recall(data).hasHyperConverged === false

/** Reads the state back; undefined where the ConfigMap is missing, incomplete or not ours. */
export function parseState(data: unknown): State | undefined {
  const parts = KEYS.map((key) => [key, partOf(data, key) ?? ABSENT_BEFORE[key]] as const)
  return parts.every(([key, part]) => isValid(key, part))
    ? (Object.fromEntries(parts) as unknown as State)
    : undefined
}

// Parts that a leader of the version before did not publish yet.
const ABSENT_BEFORE: Partial<State> = {
  sections: [],
  neverValid: UNKNOWN.neverValid,
  otherAutopilot: UNKNOWN.otherAutopilot,
  disruptiveChanges: UNKNOWN.disruptiveChanges,
  activation: UNKNOWN.activation,
  approval: UNKNOWN.approval,
  unregistered: UNKNOWN.unregistered,
  hasHyperConverged: UNKNOWN.hasHyperConverged,
  registered: UNKNOWN.registered,
}

/** Reads back what the last leader knew, part by part: what can be read of another version's is better than starting from nothing. */
export function recall(data: unknown): Partial<Pick<State, keyof Memory>> {
  return Object.fromEntries(
    (Object.keys(MEMORY) as (keyof Memory)[]).flatMap((key) => {
      const part = partOf(data, key)
      return isValid(key, part) ? [[key, part]] : []
    }),
  )
}

function partOf(data: unknown, key: string): unknown {
  const text = isMap(data) ? data[`${key}.json`] : undefined
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
