import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { START, timestamp } from '../objects.ts'

/** What a table says of an object: everything but its name, and what a server adds. */
export interface Sketch {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
}

export const liveObject = ({ metadata = {}, ...content }: Sketch): KubeObject => ({
  ...content,
  metadata: {
    namespace: 'shop',
    name: 'web',
    generation: 2,
    creationTimestamp: timestamp(START),
    ...metadata,
  },
})

export const condition = (type: string, status: string, reason = '', message = '') => ({
  type,
  status,
  ...(reason && { reason }),
  ...(message && { message }),
})
