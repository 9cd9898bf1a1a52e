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

const KEYS = ['facts', 'hardware', 'settings', 'baselines', 'applied'] as const

/** The data of the state's ConfigMap: one JSON text for each part. */
export const stateData = (state: State): Readonly<Record<string, string>> =>
  Object.fromEntries(KEYS.map((key) => [`${key}.json`, JSON.stringify(state[key])]))

/** Reads the state back; undefined where the ConfigMap is missing, incomplete or not ours. */
export function parseState(data: unknown): State | undefined {
  if (!isMap(data)) return undefined
  try {
    const parts = KEYS.map(
      (key) => [key, JSON.parse(String(data[`${key}.json`])) as unknown] as const,
    )
    return parts.every(([, value]) => isMap(value))
      ? (Object.fromEntries(parts) as unknown as State)
      : undefined
  } catch {
    return undefined
  }
}
