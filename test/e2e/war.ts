import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { keyOf, watch } from '../../src/shared/cluster/watch.ts'
import { NAMESPACE } from '../chart/helm.ts'
import type { Loose } from '../chart/pods.ts'
import { eventually, type Rehearsal } from './rehearsal.ts'
import { SERVICE, targetPortOf, withTargetPort } from './service.ts'

const SERVICES = { apiVersion: 'v1', resource: 'services', namespace: NAMESPACE }
const EVENTS = `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`
const WRITES = 50
/** Of each replica: that an edit was put back, that somebody fights, and both again where the war takes longer than a minute. */
const MOST_EVENTS = 8

/** Has a second tool apply another value again and again, by force. */
export async function fight(rehearsal: Rehearsal): Promise<void> {
  const { client, read, patch } = rehearsal
  const service = await read(SERVICE)
  const wanted = targetPortOf(service)
  const told = async (): Promise<readonly Loose[]> => {
    const { items } = await read(EVENTS)
    return items.filter(({ regarding }: Loose) => regarding.uid === service.metadata.uid)
  }
  const before = (await told()).length
  const stored = new Set<unknown>()
  const versions = new Set<string>()
  const ended = new AbortController()
  const watching = watch({
    client,
    at: SERVICES,
    name: service.metadata.name,
    onChange: (key, object) => {
      equal(key, keyOf(service))
      if (object) versions.add(object.metadata.resourceVersion ?? '')
      stored.add(object && targetPortOf(object))
    },
    onSync: () => undefined,
    onTrouble: (error) => stored.add(error.message),
    signal: ended.signal,
  })
  const query = { fieldManager: 'second-tool', force: true }
  const refusals: string[] = []
  for (let port = 9_000; port < 9_000 + WRITES; port++) {
    const { status, body } = await patch(SERVICE, withTargetPort(port), query)
    if (status === 200) equal(targetPortOf(body), wanted)
    else {
      equal(status, 403, body.message)
      refusals.push(body.message)
    }
  }
  const { resourceVersion } = (await read(SERVICE)).metadata
  await eventually('the last version is seen', async () => versions.has(resourceVersion))
  ended.abort()
  await watching
  deepEqual([...stored], [wanted])
  ok(refusals.length > WRITES / 2, `${refusals.length} of ${WRITES} were refused`)
  match(refusals[0] ?? '', /\/spec\/ports\/0\/targetPort/)
  const events = await eventually('it is told who fights', async () => {
    const events = await told()
    return events.some(({ reason }) => reason === 'ThrashingDetected') && events
  })
  ok(events.length - before <= MOST_EVENTS, `${events.length - before} events`)
}
