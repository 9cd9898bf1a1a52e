import type { Server } from 'node:http'
import { renewCertificates } from '../../../src/reconciler/admission/certificates.ts'
import { PREFIX } from '../../../src/shared/baseline/annotations.ts'
import { createApp } from '../../../src/webhook/server/app.ts'
import type { BodyBudget } from '../../../src/webhook/server/body.ts'
import type { Door } from './door.ts'
import { baselineOf, handlersWith, requestFor } from './known.ts'

const hco = baselineOf('hco-golden-config')

/** A review that nothing is wrong with, padded to so many bytes where that is more. */
export function reviewOfSize(size = 0): string {
  const request = { ...requestFor('UPDATE', { object: hco, oldObject: hco }), options: '' }
  const text = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request,
  })
  return text.replace('"options":""', `"options":"${'x'.repeat(Math.max(0, size - text.length))}"`)
}

export interface Listening {
  readonly server: Server
  readonly door: Door
  readonly close: () => Promise<void>
}

/** The webhook's own server, with TLS, on the loopback interface. */
export async function listening(
  onError: (error: Error) => void,
  budget?: BodyBudget,
): Promise<Listening> {
  const { serving } = await renewCertificates({}, ['127.0.0.1'], Date.now(), true)
  const tls = { key: serving.key, cert: serving.certificate }
  const app = createApp({
    prefix: PREFIX,
    routes: handlersWith().routes,
    tls,
    onError,
    ...(budget && { budget }),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { server: app.server, door: { port }, close: () => app.close() }
}
