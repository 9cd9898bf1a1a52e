import { formatValue } from '../../engine/format-value.ts'
import type { Condition } from '../catalog/condition-schemas.ts'
import type { Facts, Topology } from './facts.ts'

/**
 * Why a condition does not hold and never will on this cluster, and what to do instead; undefined where it holds or may come true.
 * Only what installation decides is for ever: nodes and their devices come and go, APIs are installed, one replica becomes three.
 */
export function neverHere(condition: Condition, { topology }: Facts): string | undefined {
  if (condition.type !== 'topology') return undefined
  const { field, value = true, not = false } = condition
  const fact = topology[field]
  if (fact === undefined || (fact === value) !== not) return undefined
  const why = whyNever(field, topology)
  return why && `can never be active on this cluster: ${why}`
}

function whyNever(field: keyof Topology, topology: Topology): string | undefined {
  const { hostedControlPlane, provider } = topology
  if (field === 'provider')
    return provider === ''
      ? 'nothing says on what it runs, as OpenShift does; leave the asset to clusters that say so'
      : `it runs on ${formatValue('', provider)}, which installation decides; leave the asset to other clusters`
  const decided = INSTALLED[field]
  if (decided) return decided[topology[field] ? 0 : 1]
  return hostedControlPlane && OF_OWN_CONTROL_PLANE.has(field) && !topology[field]
    ? HOSTED
    : undefined
}

const HOSTED =
  'its control plane is hosted, so that its nodes are configured by spec.config of their NodePools, on the management cluster; put there what they need'

/** What installation decides for good: what is told where it is so, and where it is not. */
const INSTALLED: Readonly<
  Partial<Record<keyof Topology, readonly [whereTrue: string, whereFalse: string]>>
> = {
  hostedControlPlane: [
    HOSTED,
    'its control plane is not hosted, which installation decides; leave the asset to other clusters',
  ],
  dualReplica: [
    'its two control plane nodes fence each other, and the Node Health Check operator keeps out of that; leave the asset to other clusters',
    'its control plane is no pair that fences itself, which installation decides; leave the asset to other clusters',
  ],
}

/** What is true only where masters are among the nodes, or the Machine Config Operator configures these. */
const OF_OWN_CONTROL_PLANE: ReadonlySet<keyof Topology> = new Set([
  'compact',
  'schedulableMasters',
  'kubeletDropIns',
  'masterKubeletDropIns',
])
