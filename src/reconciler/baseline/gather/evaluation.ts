import type { Catalog } from '../../../shared/baseline/catalog/catalog.ts'
import { sectionsInForce } from '../../../shared/baseline/catalog/sections.ts'
import type { Facts } from '../../../shared/baseline/facts/facts.ts'
import {
  type DisruptionPolicies,
  disruptionPoliciesOf,
} from '../../../shared/baseline/machine-config/disruption-policies.ts'
import { isToRun, otherBeside } from '../../../shared/baseline/settings/other-autopilot.ts'
import { type ReadSettings, readSettings } from '../../../shared/baseline/settings/settings.ts'
import type { DecideStandings, Standing, Standings } from '../../../shared/baseline/standing.ts'
import { knownSettings, type Memory, type State } from '../../../shared/baseline/state.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { AUTOPILOT } from '../../../shared/engine/overrides/annotations.ts'
import { makeFacts, type Observations } from './facts.ts'

/** What is decided for the whole cluster, and every asset's part in it. */
export interface Evaluation {
  readonly facts: Facts
  readonly hco: KubeObject
  readonly stated: ReadSettings
  readonly standings: Standings
  /** What every other process needs to come to the same standings. */
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
  { catalog, decide }: { readonly catalog: Catalog; readonly decide: DecideStandings },
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
  const stated = readSettings(annotations, knownSettings(previous), otherAutopilot)
  const standings = decide(facts, stated.settings)
  const baselines = digestsOf(standings)
  return {
    facts,
    hco,
    stated,
    standings,
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

/** The assets that one evaluation leaves as another had them need no second look; these do. */
export function affected(before: Evaluation | undefined, after: Evaluation): readonly string[] {
  const names = [...after.standings.keys()]
  if (!before || !isSameRegime(before, after)) return names
  if (before.standings === after.standings) return []
  return names.filter(
    (name) => !isSameStanding(before.standings.get(name), after.standings.get(name)),
  )
}

const digestsOf = (standings: ReadonlyMap<string, Standing>) =>
  Object.fromEntries(
    [...standings].flatMap(([name, standing]) =>
      standing.kind === 'active' ? [[name, standing.digest]] : [],
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
  isSame(before.facts.pools, after.facts.pools)

const isSameStanding = (before: Standing | undefined, after: Standing | undefined) =>
  before?.kind === 'active' && after?.kind === 'active'
    ? before.digest === after.digest
    : isSame(before, after)
