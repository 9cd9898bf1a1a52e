import {
  FIELD_MANAGER,
  MANAGED_BY,
  MODE,
  RECONCILE_PAUSED,
} from '../../../shared/baseline/annotations.ts'
import { isObsolete } from '../../../shared/baseline/asset-status.ts'
import { classifyChange } from '../../../shared/baseline/machine-config/disruption-class.ts'
import { switchProblems } from '../../../shared/baseline/planner.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import { allowanceFor } from './approval.ts'
import { type AssetInput, type Decision, final, isManagedByUs, skip } from './decision.ts'
import { STUCK_MS } from './memory.ts'

/** Whether there is to be no such object. A superseded one stays until the one that replaces it is there. */
export const isUnwanted = ({ asset, status, live, isRivalThere }: AssetInput) =>
  status.kind === 'tombstone' ||
  (isObsolete(status, asset) && isManagedByUs(live) && (isRivalThere || !isSuperseded(status)))

const isSuperseded = (status: AssetInput['status']) =>
  status.kind === 'inactive' && status.reason === 'Superseded'

/** Decides about an object that is to be deleted: it is, unless somebody else has a claim on it. */
export function removal(input: AssetInput): Decision {
  const { live, now } = input
  if (!live) return final({ kind: 'gone' })
  if (!isManagedByUs(live)) {
    const why = `it does not bear the label ${MANAGED_BY}=${FIELD_MANAGER}: it is somebody else's`
    return skip('NotOurs', why)
  }
  if (annotationOf(live, MODE) === 'unmanaged') return skip('Unmanaged')
  if (annotationOf(live, RECONCILE_PAUSED) === 'true') return skip('Paused')
  // A mistyped opt-out: somebody meant to keep the object.
  const problems = switchProblems(live)
  if (problems.length > 0) return final({ kind: 'held', problems })
  const { deletionTimestamp: since, finalizers } = live.metadata
  if (!since) return deletion(input, live)
  if (now - Date.parse(since) < STUCK_MS) return skip('Deleting')
  const names = Array.isArray(finalizers) ? finalizers.map(String) : []
  return final({ kind: 'stuck', since, finalizers: names })
}

function deletion(input: AssetInput, live: KubeObject): Decision {
  const { asset, status, isObserving, nodePolicies: policies } = input
  const effectsOf = () => classifyChange({ live, desired: undefined, policies })
  const { permission, ...disruption } = allowanceFor(input, undefined, effectsOf)
  const reason = permission === 'yes' ? isObserving && 'Observing' : permission
  const why = 'message' in status ? status.message : asset.description
  if (reason) return final({ kind: 'pendingRemoval', reason, why, ...disruption })
  return final(
    { kind: 'removed', was: live, why, ...disruption },
    { write: { kind: 'delete', live } },
  )
}
