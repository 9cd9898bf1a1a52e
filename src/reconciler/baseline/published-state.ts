import { STATE_CONFIG_MAP } from '../../shared/baseline/names.ts'
import { type State, stateData } from '../../shared/baseline/state.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { apply, read } from '../../shared/cluster/resource.ts'

const stateIn = (namespace: string) => ({ apiVersion: 'v1', resource: 'configmaps', namespace })

/** The data of the state as the last leader published it; undefined where none did. */
export const readState = async (client: Client, namespace: string) =>
  (await read(client, stateIn(namespace), STATE_CONFIG_MAP))?.data

/** Publishes the state. */
export const writeState = (client: Client, namespace: string, state: State) =>
  apply(client, stateIn(namespace), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: STATE_CONFIG_MAP, namespace },
    data: stateData(state),
  })
