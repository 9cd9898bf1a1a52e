import { APPROVE } from '../../../shared/baseline/annotations.ts'
import { annotateCommand } from '../../../shared/baseline/kubectl.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import { cut } from '../../../shared/engine/format-value.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'

/** What a change does to the nodes of a pool. */
export interface EffectOnPool extends Classification {
  readonly pool: string
  /** How many nodes there are; undefined where the pool is not known. */
  readonly nodes: number | undefined
}

const VERBS = { reboot: 'reboots', reload: 'reloads services on', none: undefined } as const

const MOST_REASONS = 3
const REASONS_LIMIT = 80

/** The effect in a few words: `reboots 3 nodes of pool worker (file /etc/a added)`; undefined where there is none. */
export function describeEffect({ effect, reasons, pool, nodes }: EffectOnPool): string | undefined {
  const verb = VERBS[effect]
  if (!verb) return undefined
  const who = nodes === undefined ? 'the nodes' : `${nodes} nodes`
  const why = cut(reasons.slice(0, MOST_REASONS).join(', '), REASONS_LIMIT)
  return `${verb} ${who} of pool ${pool} (${why})`
}

/** The command by which an admin approves a set of changes. */
export const approveCommand = ({ metadata }: KubeObject, digest: string) =>
  annotateCommand({ kind: 'HyperConverged', metadata }, APPROVE, digest)
