import { createStatusDecider } from '../../shared/baseline/asset-status.ts'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../../shared/baseline/names.ts'
import { parseState, tellsOfAbsence } from '../../shared/baseline/state.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { createSchemas, schemaKey } from '../../shared/cluster/schemas.ts'
import { Store } from '../../shared/cluster/store.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Log, TroubleTeller } from '../../shared/ops/log.ts'
import { WorkQueue } from '../../shared/ops/work-queue.ts'
import { createSnapshot, queriesOf, type Snapshot } from './snapshot.ts'

export interface FollowOptions {
  readonly client: Client
  readonly catalog: Catalog
  /** Where the leader publishes its state. */
  readonly namespace: string
  readonly log: Log
  readonly tell: TroubleTeller
  readonly signal: AbortSignal
}

export interface FollowedSnapshot {
  /** Of the last state that was read; undefined before the first. */
  readonly current: () => Snapshot | undefined
  /** What is missing for every decision to be made. */
  readonly obstacles: () => readonly string[]
  readonly start: () => void
}

const STATE = 'state'
const SCHEMA_REFRESH_MS = 5 * 60_000
const WAITING = 'waiting for the leader to publish its state; until then only overrides are judged'
const NOTHING = 'there is no HyperConverged: nothing to judge until one is created'

/** Follows the state that the leader publishes, and the schemas of the kinds in it, once it is started. */
export function followSnapshot(options: FollowOptions): FollowedSnapshot {
  const { client, catalog, namespace, log, tell, signal } = options
  const loadSchemas = createSchemas(client)
  const decide = createStatusDecider(catalog, sha256)
  let snapshot: Snapshot | undefined
  // Before the first HyperConverged there is no state: ready all the same, or no installation would be complete without one.
  let isNothingToJudge = false
  let told = ''
  const tellOnce = (summary: object, message: string) => {
    const text = JSON.stringify(summary)
    if (told !== text) log.info(summary, message)
    told = text
  }
  const waitForState = (data: unknown) => {
    isNothingToJudge = tellsOfAbsence(data)
    if (snapshot) return
    tellOnce({ hasHyperConverged: !isNothingToJudge }, isNothingToJudge ? NOTHING : WAITING)
  }
  const load = async () => {
    const data = store.object(STATE)?.data
    const state = parseState(data)
    if (!state) return waitForState(data)
    const queries = queriesOf(catalog, state)
    const schemas = await loadSchemas(queries)
    snapshot = createSnapshot(catalog, state, schemas, decide)
    tellOnce(
      { activation: snapshot.settings.activation.kind, ...agreement(snapshot) },
      'state loaded',
    )
    const missing = queries.filter((query) => !schemas.has(schemaKey(query)))
    if (missing.length > 0)
      throw new Error(`schemas are not published yet: ${missing.map(schemaKey).join(', ')}`)
    tell.recovered()
    // A schema may change without the state; an unchanged one costs a read of the index.
    queue.addAfter(STATE, SCHEMA_REFRESH_MS)
  }
  const queue = new WorkQueue({
    work: load,
    onError: (_key, error) => tell('cannot take the state in; trying again', error),
  })
  const store = new Store({
    client,
    onTrouble: (id, error) => tell(`cannot read the ${id}; trying again`, error),
    onChange: () => queue.add(STATE),
  })
  const at = { apiVersion: 'v1', resource: 'configmaps', namespace }
  signal.addEventListener('abort', () => {
    store.stop()
    void queue.stop()
  })
  return {
    current: () => snapshot,
    obstacles: () => {
      if (!snapshot) return isNothingToJudge ? [] : ['the leader has published no state']
      const isLacking = snapshot.all.some(({ status, tree }) => isActive(status) && !tree)
      return isLacking ? ['some schemas are missing'] : []
    },
    start: () => store.follow('snapshot', [{ id: STATE, at, name: BASELINE.stateConfigMap }]),
  }
}

const agreement = ({ all }: Snapshot) => {
  const active = all.filter(({ status }) => isActive(status))
  return {
    active: active.length,
    disagreeing: active.filter(({ isAgreed }) => !isAgreed).map(({ asset }) => asset.name),
  }
}

const isActive = ({ kind }: Snapshot['all'][number]['status']) => kind === 'active'
