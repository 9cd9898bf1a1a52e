import { PAUSE_FIELD_MANAGER, RECONCILE_PAUSED } from '../../../shared/baseline/annotations.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import {
  annotate,
  apply,
  deleteExactly,
  patchJson,
  type Resource,
  read,
} from '../../../shared/cluster/resource.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { ObjectPort } from './ports.ts'

export interface ObjectPortOptions {
  readonly client: Client
  readonly at: Resource | undefined
  readonly name: string
  readonly isLeader: () => boolean
  /** Told the object as each write leaves it. */
  readonly onStored: (object: KubeObject) => void
}

/** Reads and writes one object; refuses to write once the Lease is somebody else's. */
export function createObjectPort({
  client,
  at,
  name,
  isLeader,
  onStored,
}: ObjectPortOptions): ObjectPort {
  const place = () => {
    if (!at) throw new Error(`the kind of ${name} is not served`)
    return at
  }
  const toWrite = () => {
    if (!isLeader()) throw new Error('the Lease is no longer ours')
    return place()
  }
  const stored = async (write: Promise<KubeObject>) => {
    const object = await write
    onStored(object)
    return object
  }
  return {
    read: () => read(client, place(), name),
    apply: async (object, { isDryRun }) =>
      isDryRun
        ? apply(client, place(), object, { isDryRun })
        : stored(apply(client, toWrite(), object)),
    patch: async (operations) => stored(patchJson(client, toWrite(), name, operations)),
    pause: async () =>
      stored(
        annotate(client, toWrite(), name, { [RECONCILE_PAUSED]: 'true' }, PAUSE_FIELD_MANAGER),
      ),
    remove: async (live) => deleteExactly(client, toWrite(), live),
  }
}
