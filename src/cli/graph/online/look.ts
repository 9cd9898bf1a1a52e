import { isForbidden } from '../../../shared/cluster/client.ts'
import { read } from '../../../shared/cluster/resource.ts'
import type { ServedKinds } from '../../../shared/cluster/served-kinds.ts'
import { keyOf, type ObjectRef } from '../../../shared/graph-engine/node.ts'
import type { Observation } from '../../../shared/graph-engine/step/observed.ts'
import type { Cluster } from './on-cluster.ts'

/** What of these objects there is, as far as whoever asks may read them, by their keys. */
export async function lookAt(
  refs: readonly ObjectRef[],
  { client }: Cluster,
  kinds: ServedKinds,
): Promise<ReadonlyMap<string, Observation>> {
  await kinds.learn(refs)
  const look = async (ref: ObjectRef): Promise<Observation> => {
    const at = kinds.resourceOf(ref, ref.namespace)
    try {
      // Of a kind that is not served there is nothing.
      const object = at && (await read(client, at, ref.name))
      return object ? { state: 'present', object } : { state: 'absent' }
    } catch (error) {
      if (!isForbidden(error)) throw error
      return { state: 'unreadable', reason: error.message }
    }
  }
  return new Map(await Promise.all(refs.map(async (ref) => [keyOf(ref), await look(ref)] as const)))
}
