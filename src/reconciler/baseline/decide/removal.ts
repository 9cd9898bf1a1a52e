import { classifyChange } from '../../../shared/baseline/machine-config/disruption-class.ts'
import { isObsolete } from '../../../shared/baseline/standing.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import {
  FIELD_MANAGER,
  MANAGED_BY,
  MODE,
  RECONCILE_PAUSED,
} from '../../../shared/engine/overrides/annotations.ts'
import { switchProblems } from '../../../shared/engine/plan.ts'
import { allowanceFor } from './approval.ts'
import {
  type AssetInput,
  type Check,
  type Decision,
  final,
  firstOf,
  isManagedByUs,
  skip,
} from './decision.ts'
import { STUCK_MS } from './memory.ts'

/** Answers where the object is to go: it is deleted unless somebody else has a claim on it. */
export function removal(input: AssetInput): Decision | undefined {
  if (!isUnwanted(input)) return undefined
  const { live } = input
  return live ? firstOf(REMOVAL, { ...input, live }) : final({ kind: 'removed' })
}

// Off means that nothing is deleted either.
const isUnwanted = (input: AssetInput) =>
  !input.isOff && (input.standing.kind === 'tombstone' || isObsoleteNow(input))

// What does an asset's work in its place must be there first: until then, better this one than none.
const isObsoleteNow = ({ asset, standing, live, isRivalThere }: AssetInput) =>
  isObsolete(standing, asset) && isManagedByUs(live) && (isRivalThere || !isSuperseded(standing))

const isSuperseded = (standing: AssetInput['standing']) =>
  standing.kind === 'inactive' && standing.reason === 'Superseded'

type Unwanted = AssetInput & { readonly live: KubeObject }

const notOurs: Check<Unwanted> = ({ live }) =>
  isManagedByUs(live)
    ? undefined
    : skip(
        'NotOurs',
        `it does not bear the label ${MANAGED_BY}=${FIELD_MANAGER}: it is somebody else's`,
      )

const unmanaged: Check<Unwanted> = ({ live }) =>
  annotationOf(live, MODE) === 'unmanaged' ? skip('Unmanaged') : undefined

const paused: Check<Unwanted> = ({ live }) =>
  annotationOf(live, RECONCILE_PAUSED) === 'true' ? skip('Paused') : undefined

// Somebody meant to keep it, and made a mistake.
const invalidSwitch: Check<Unwanted> = ({ live }) => {
  const problems = switchProblems(live)
  return problems.length > 0 ? final({ kind: 'held', problems }) : undefined
}

const deleting: Check<Unwanted> = ({ live: { metadata }, now }) => {
  const { deletionTimestamp: since, finalizers } = metadata
  if (!since) return undefined
  if (now - Date.parse(since) < STUCK_MS) return skip('Deleting')
  const names = Array.isArray(finalizers) ? finalizers.map(String) : []
  return final({ kind: 'stuck', since, finalizers: names })
}

const deletable: Check<Unwanted> = (input) => {
  const { live, standing, isObserving, nodePolicies: policies } = input
  const effectsOf = () => classifyChange({ live, desired: undefined, policies })
  const { permission, ...disruption } = allowanceFor(input, undefined, effectsOf)
  if (permission !== 'yes')
    return final({ kind: 'pendingRemoval', reason: permission, ...disruption })
  if (isObserving) return final({ kind: 'pendingRemoval', reason: 'Observing', ...disruption })
  const why = isSuperseded(standing) && 'message' in standing && { why: standing.message }
  return final({ kind: 'removed', was: live, ...why }, { write: { kind: 'delete', live } })
}

const REMOVAL = [notOurs, unmanaged, paused, invalidSwitch, deleting, deletable]
