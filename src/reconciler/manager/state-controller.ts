import type { Client } from '../../shared/cluster/client.ts'
import { apply, read } from '../../shared/cluster/resource.ts'
import type { Store } from '../../shared/cluster/store.ts'
import type { Identity } from '../../shared/engine/identity.ts'
import { isEqual } from '../../shared/engine/json/equal.ts'
import { retry } from '../../shared/ops/backoff.ts'
import type { TroubleTeller } from '../../shared/ops/log.ts'
import type { Controller } from './manager.ts'

/** What a leader keeps for others, as the data of a ConfigMap. */
export interface Published {
  /** Undefined before there is anything to publish. */
  readonly data: Readonly<Record<string, string>> | undefined
  /** Takes over what an earlier leader published. */
  readonly resume: (data: unknown) => void
}

export interface StateControllerOptions {
  readonly client: Client
  readonly identity: Identity
  readonly namespace: string
  readonly store: Store
  readonly ledger: Published
  /** Whoever never leads publishes nothing, and follows nothing of it. */
  readonly isObserver?: boolean
  readonly tell: TroubleTeller
  /** Aborts when the process ends. */
  readonly signal: AbortSignal
}

/** Its only key, under which a ledger that is another one is to be enqueued. */
export const STATE = 'state'

/** Publishes what the leader knows. It is to be the first controller: the others go on from what it takes over. */
export function createStateController(options: StateControllerOptions): Controller {
  const { client, identity, namespace, store, ledger, isObserver, tell, signal } = options
  const name = identity.stateConfigMap
  return {
    name: STATE,
    sources: isObserver ? [] : [{ id: name, at: statesIn(namespace), name }],
    resync: () => [STATE],
    keysOf: ({ source }) => (source === name ? [{ key: STATE }] : []),
    async onElected(lost) {
      const onTrouble = (error: Error) =>
        tell('cannot read the published state; trying again', error)
      const until = AbortSignal.any([signal, lost])
      const work = () => readState(client, identity, namespace, until)
      ledger.resume(await retry(work, { signal: until, onTrouble }))
    },
    async reconcile() {
      const { data } = ledger
      if (!data || isEqual(store.object(name)?.data, data)) return undefined
      store.update(name, await writeState(client, identity, namespace, data))
      return undefined
    },
    onError: (_key, error) => tell('the state is not published; trying again', error),
  }
}

const statesIn = (namespace: string) => ({ apiVersion: 'v1', resource: 'configmaps', namespace })

/** The data of a system's state as the last leader published it; undefined where none did. */
export const readState = async (
  client: Client,
  { stateConfigMap }: Identity,
  namespace: string,
  signal?: AbortSignal,
) => (await read(client, statesIn(namespace), stateConfigMap, signal))?.data

const writeState = (
  client: Client,
  { stateConfigMap: name }: Identity,
  namespace: string,
  data: Published['data'],
) =>
  apply(client, statesIn(namespace), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data,
  })
