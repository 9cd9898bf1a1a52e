import { randomBytes } from 'node:crypto'

import { cut } from '../engine/format-value.ts'
import type { KubeObject } from '../engine/json/object.ts'
import type { Client } from './client.ts'
import { microTime } from './resource.ts'

export interface EventInput {
  /** The object that it is about. */
  readonly subject: KubeObject
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly note: string
}

/** Sends events; a failure is handed to `onError` and never disturbs the caller. */
export type RecordEvent = (event: EventInput) => void

// Bytes; the API server refuses a longer note.
const NOTE_LIMIT = 1024
// Beyond this many in flight, newer events are dropped: an event storm must not become a request storm.
const IN_FLIGHT_LIMIT = 50

/** Creates a recorder of events.k8s.io/v1 events in the subject's namespace, or in `default`. */
export function createRecorder(
  client: Client,
  instance: string,
  onError: (error: Error) => void,
): RecordEvent {
  let inFlight = 0
  return (input) => {
    if (inFlight >= IN_FLIGHT_LIMIT) return
    inFlight++
    send(client, instance, input)
      .catch(onError)
      .finally(() => inFlight--)
  }
}

async function send(client: Client, instance: string, { subject, type, reason, note }: EventInput) {
  const { apiVersion, kind, metadata } = subject
  const namespace = metadata.namespace ?? 'default'
  await client.send(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`, {
    method: 'POST',
    body: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: `${metadata.name}.${randomBytes(8).toString('hex')}`, namespace },
      eventTime: microTime(),
      reportingController: client.fieldManager,
      reportingInstance: instance,
      action: reason,
      type,
      reason,
      note: cut(note, NOTE_LIMIT),
      regarding: {
        apiVersion,
        kind,
        name: metadata.name,
        ...(metadata.namespace && { namespace: metadata.namespace }),
        ...(metadata.uid && { uid: metadata.uid }),
      },
    },
  })
}
