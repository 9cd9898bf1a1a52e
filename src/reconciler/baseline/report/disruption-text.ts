import { APPROVE } from '../../../shared/baseline/annotations.ts'
import { describeReach, type Reach } from '../../../shared/baseline/facts/pools.ts'
import { annotateCommand } from '../../../shared/baseline/kubectl.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import { cut } from '../../../shared/engine/format-value.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'

/** What a change does to the nodes of its pools. */
export interface EffectOnPool extends Classification, Reach {}

const VERBS = { reboot: 'reboots', reload: 'reloads services on', none: undefined } as const

const MOST_REASONS = 3
const REASONS_LIMIT = 80

/** The effect in a few words: `reboots 3 nodes of pool worker (file /etc/a added)`; undefined where there is none. */
export function describeEffect({ effect, reasons, ...reach }: EffectOnPool): string | undefined {
  const verb = VERBS[effect]
  if (!verb) return undefined
  const why = cut(reasons.slice(0, MOST_REASONS).join(', '), REASONS_LIMIT)
  return `${verb} ${describeReach(reach)} (${why})`
}

/** The command by which an admin approves a set of changes. */
export const approveCommand = ({ metadata }: KubeObject, digest: string) =>
  annotateCommand({ kind: 'HyperConverged', metadata }, APPROVE, digest)
