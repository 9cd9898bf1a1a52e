import { isMap } from '../engine/object.ts'
import type { Facts } from './facts.ts'
import type { StickyHardware } from './hardware.ts'
import type { Annotations } from './settings.ts'

/**
 * What the leader publishes, so that every process has one opinion of the desired state: the facts
 * it renders from, the settings in force, and the digest of each baseline.
 */
export interface State {
  readonly facts: Facts
  readonly hardware: StickyHardware
  /** The text of each setting in force, by annotation key. */
  readonly settings: Annotations
  /** Digest of the baseline by name of the active asset. */
  readonly baselines: Readonly<Record<string, string>>
  /** For each disruptive asset, the digest of what was last applied. */
  readonly applied: Readonly<Record<string, string>>
}

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const mapOf =
  (isMember: Check): Check =>
  (value) =>
    isMap(value) && Object.values(value).every(isMember)
const record =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isMap(value) && Object.entries(members).every(([name, isMember]) => isMember(value[name]))

const isFacts = record({
  hco: record({ apiVersion: isText, namespace: isText, annotations: mapOf(isText), spec: isMap }),
  hardware: isMap,
  topology: isMap,
  served: mapOf(Array.isArray),
  enums: mapOf(mapOf(Array.isArray)),
  images: mapOf(isText),
  pools: isMap,
})

const PARTS = {
  facts: isFacts,
  hardware: mapOf(isMap),
  settings: mapOf(isText),
  baselines: mapOf(isText),
  applied: mapOf(isText),
} satisfies Record<keyof State, Check>

const KEYS = Object.keys(PARTS) as readonly (keyof State)[]

/** The data of the state's ConfigMap: one JSON text for each part. */
export const stateData = (state: State): Readonly<Record<string, string>> =>
  Object.fromEntries(KEYS.map((key) => [`${key}.json`, JSON.stringify(state[key])]))

/** Reads the state back; undefined where the ConfigMap is missing, incomplete or not ours. */
export function parseState(data: unknown): State | undefined {
  if (!isMap(data)) return undefined
  try {
    const state: unknown = Object.fromEntries(
      KEYS.map((key) => [key, JSON.parse(String(data[`${key}.json`]))]),
    )
    return record(PARTS)(state) ? (state as State) : undefined
  } catch {
    return undefined
  }
}
