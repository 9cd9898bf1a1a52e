import { AUTOPILOT } from '../../../shared/baseline/annotations.ts'
import type {
  AssetStatus,
  AssetStatuses,
  DecideStatuses,
} from '../../../shared/baseline/asset-status.ts'
import type { Catalog } from '../../../shared/baseline/catalog/catalog.ts'
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
export interface Outlook {
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

export interface OutlookDeps {
  readonly catalog: Catalog
  readonly decide: DecideStatuses
}

/** Decides what each asset's baseline is on the cluster as it was observed. */
export function lookOut(
  { catalog, decide }: OutlookDeps,
  observations: Observations,
  previous: Memory,
  now: number,
): Outlook {
  const { hco } = observations
  const made = makeFacts(catalog, observations, previous, now)
  const { hardware } = made
  const facts = { ...made.facts, sections: sectionsInForce(catalog, made.facts) }
  const { annotations = {} } = hco.metadata
  const otherAutopilot = otherBeside(isToRun(observations.otherAutopilot), annotations[AUTOPILOT])
  const stated = readSettings(annotations, knownSettings(previous), otherAutopilot)
  const statuses = decide(facts, stated.settings)
  const baselines = digestsOf(statuses)
  return {
    facts,
    hco,
    stated,
    statuses,
    state: {
      facts,
      hardware,
      sections: facts.sections,
      settings: stated.valid,
      neverValid: stated.neverValid,
      otherAutopilot,
      baselines,
    },
    schemas: observations.schemas,
    policies: disruptionPoliciesOf(observations.machineConfiguration),
  }
}

/** The assets that one outlook leaves as another had them need no second look; these do. */
export function affected(before: Outlook | undefined, after: Outlook): readonly string[] {
  const names = [...after.statuses.keys()]
  if (!before || !isSameRegime(before, after)) return names
  if (before.statuses === after.statuses) return []
  return names.filter((name) => !isSameStatus(before.statuses.get(name), after.statuses.get(name)))
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

const isSameRegime = (before: Outlook, after: Outlook) =>
  isSame(before.policies, after.policies) &&
  isSameSchemas(before.schemas, after.schemas) &&
  isSame(before.stated.settings, after.stated.settings) &&
  isSame(before.facts.pools, after.facts.pools)

const isSameStatus = (before: AssetStatus | undefined, after: AssetStatus | undefined) =>
  before?.kind === 'active' && after?.kind === 'active'
    ? before.digest === after.digest
    : isSame(before, after)
