import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { renewCertificates } from '../../../../src/reconciler/admission/certificates.ts'
import type { Scope } from '../fixture.ts'

/** As with ours, the client must be the one to end a connection that it does not use, or it may lose a call. */
export const KEEP_ALIVE_MS = 120_000

/** A server on the loopback interface. */
export interface HttpsServer {
  readonly url: string
  /** The authorities of its certificate, PEM. */
  readonly bundle: string
}

/** Starts a server with a certificate of its own; it ends with the test. */
export async function startHttpsServer(
  t: Pick<Scope, 'teardown'>,
  listener: RequestListener,
): Promise<HttpsServer> {
  const { serving, bundle } = await renewCertificates({}, ['127.0.0.1'], Date.now(), true)
  const options = { key: serving.key, cert: serving.certificate, keepAliveTimeout: KEEP_ALIVE_MS }
  const server = createServer(options, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, bundle }
}
