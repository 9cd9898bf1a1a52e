import { type Bench, DEFAULT_FLAGS } from './bench.ts'
import { HCO_FLAG, measureAdded } from './sections/added.ts'
import { measureDecisions } from './sections/decisions.ts'
import { measureHeal } from './sections/heal.ts'
import { measureIdle } from './sections/idle.ts'
import { measureMemory } from './sections/memory.ts'
import { measureSoak } from './sections/soak.ts'
import { measureStart } from './sections/start.ts'
import { measureWar } from './sections/war.ts'
import type { Section } from './table.ts'

/** A measurement, which gives a section of the page. */
export interface Measure {
  /** What --only knows it by. */
  readonly name: string
  readonly run: (bench: Bench) => Promise<Section>
  /** It needs a cluster of its own, with these flags of the reconciler. */
  readonly ownFlags?: readonly string[]
  /** It leaves the cluster as it was, so that it can be run again, in turns with another build. */
  readonly isRepeatable?: true
}

/** In this order: no start is after another measurement, and memory leaves thousands of nodes behind. */
export const MEASURES: readonly Measure[] = [
  { name: 'start', run: measureStart, isRepeatable: true },
  { name: 'heal', run: measureHeal, isRepeatable: true },
  { name: 'idle', run: measureIdle, isRepeatable: true },
  { name: 'decisions', run: measureDecisions, isRepeatable: true },
  { name: 'memory', run: measureMemory },
  // Elsewhere in the benchmark nobody may be throttled.
  { name: 'war', run: measureWar, ownFlags: ['--heal-limit=5'] },
  { name: 'added', run: measureAdded, ownFlags: [...DEFAULT_FLAGS, HCO_FLAG] },
  // Memory is to be that of a process that did nothing else.
  { name: 'soak', run: measureSoak, ownFlags: DEFAULT_FLAGS },
]
