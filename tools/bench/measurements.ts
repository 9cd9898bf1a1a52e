import { measureAdded } from './added.ts'
import { measureAssets } from './assets.ts'
import type { Bench, Setup } from './cluster.ts'
import { measureDecisions } from './decisions.ts'
import { measureHeal } from './heal.ts'
import { measureIdle } from './idle.ts'
import { measureLatency } from './latency.ts'
import { measureMemory } from './memory.ts'
import { measureNodes } from './nodes.ts'
import { measurePeers } from './peers.ts'
import { measureRender } from './render.ts'
import { measureSoak } from './soak.ts'
import { measureStart } from './start.ts'
import type { Section } from './table.ts'
import { measureWar } from './war.ts'

type Measurements<On> = Readonly<Record<string, (on: On) => Promise<Section>>>

/**
 * In this order: memory is that of processes which have done all of the rest, and no start is after them; what comes
 * last leaves thousands of nodes behind.
 */
export const ON_ONE_CLUSTER: Measurements<Bench> = {
  start: measureStart,
  heal: measureHeal,
  idle: measureIdle,
  latency: measureLatency,
  decisions: measureDecisions,
  peers: measurePeers,
  memory: measureMemory,
  nodes: measureNodes,
}
export const ON_THEIR_OWN: Measurements<Setup> = {
  render: measureRender,
  assets: measureAssets,
  war: measureWar,
  added: measureAdded,
  soak: measureSoak,
}
/** What --only knows. */
export const NAMES = [...Object.keys(ON_ONE_CLUSTER), ...Object.keys(ON_THEIR_OWN)]
