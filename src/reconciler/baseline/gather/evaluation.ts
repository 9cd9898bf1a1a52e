import { AUTOPILOT } from '../../../shared/baseline/annotations.ts'
import type {
  AssetStatus,
  AssetStatuses,
  DecideStatuses,
} from '../../../shared/baseline/asset-status.ts'
import {
  type Asset,
  type Catalog,
  isHyperConverged,
} from '../../../shared/baseline/catalog/catalog.ts'
import { sectionsInForce } from '../../../shared/baseline/catalog/sections.ts'
import type { Facts } from '../../../shared/baseline/facts/facts.ts'
import {
  type DisruptionPolicies,
  disruptionPoliciesOf,
} from '../../../shared/baseline/machine-config/disruption-policies.ts'
import { isToRun, otherBeside } from '../../../shared/baseline/settings/other-autopilot.ts'
import { type ReadSettings, readSettings } from '../../../shared/baseline/settings/settings.ts'
import { knownSettings, type Memory, type State } from '../../../shared/baseline/state.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { makeFacts, type Observations } from './facts.ts'

/** What is decided for the whole cluster, and every asset's part in it. */
export interface Evaluation {
  readonly facts: Facts
  readonly hco: KubeObject
  readonly stated: ReadSettings
  readonly statuses: AssetStatuses
  /** What every other process needs to come to the same statuses. */
  readonly state: Pick<
    State,
    'facts' | 'hardware' | 'sections' | 'settings' | 'neverValid' | 'otherAutopilot' | 'baselines'
  >
  readonly schemas: Observations['schemas']
  /** What the Machine Config Operator does about changes, as far as it says. */
  readonly policies: DisruptionPolicies | undefined
}

/** Decides what each asset's baseline is on the cluster as it was observed. */
export function evaluate(
  { catalog, decide }: { readonly catalog: Catalog; readonly decide: DecideStatuses },
  observations: Observations,
  previous: Memory,
  now: number,
): Evaluation {
  const { hco } = observations
  const made = makeFacts(catalog, observations, previous, now)
  const { hardware } = made
  const facts = { ...made.facts, sections: sectionsInForce(catalog, made.facts) }
  const { annotations = {} } = hco.metadata
  const otherAutopilot = otherBeside(isToRun(observations.otherAutopilot), annotations[AUTOPILOT])
  const known = knownSettings(previous)
  const stated = readSettings(annotations, known, otherAutopilot, previous.activation)
  const statuses = decide(facts, stated.settings)
  const { valid: settings, neverValid } = stated
  const { sections } = facts
  const baselines = digestsOf(statuses)
  return {
    facts,
    hco,
    stated,
    statuses,
    state: { facts, hardware, sections, settings, neverValid, otherAutopilot, baselines },
    schemas: observations.schemas,
    policies: disruptionPoliciesOf(observations.machineConfiguration),
  }
}

/** The assets that need another look, since a new evaluation leaves them otherwise than the last: by name. */
export function affected(
  catalog: Catalog,
  before: Evaluation | undefined,
  after: Evaluation,
): readonly string[] {
  if (!before || !isSameRegime(before, after)) return catalog.map(({ name }) => name)
  const isAffected = (asset: Asset) =>
    (isHyperConverged(asset) && before.hco !== after.hco) ||
    !isSameStatus(before.statuses.get(asset.name), after.statuses.get(asset.name))
  return catalog.filter(isAffected).map(({ name }) => name)
}

const digestsOf = (statuses: ReadonlyMap<string, AssetStatus>) =>
  Object.fromEntries(
    [...statuses].flatMap(([name, status]) =>
      status.kind === 'active' ? [[name, status.digest]] : [],
    ),
  )

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

// A schema that was read again is the same object, unless it changed.
const isSameSchemas = (before: Observations['schemas'], after: Observations['schemas']) =>
  before.size === after.size && [...after].every(([key, schema]) => before.get(key) === schema)

const isSameRegime = (before: Evaluation, after: Evaluation) =>
  isSame(before.policies, after.policies) &&
  isSameSchemas(before.schemas, after.schemas) &&
  isSame(before.stated.settings, after.stated.settings) &&
  isSame(before.facts.pools, after.facts.pools) &&
  isSame(before.facts.heirs, after.facts.heirs)

const isSameStatus = (before: AssetStatus | undefined, after: AssetStatus | undefined) =>
  before?.kind === 'active' && after?.kind === 'active'
    ? before.digest === after.digest
    : before === after || isSame(before, after)
