import { json } from 'node:stream/consumers'
import type { Loose } from '../harness/autopilot-fixture.ts'
import type { Scope } from '../harness/fixture.ts'
import { startHttpsServer } from '../harness/network/https-server.ts'

/** A webhook that lets everything pass, and remembers at which of its paths it was asked. */
export interface Witness {
  /** How the API server reaches it at a path. */
  readonly clientConfig: (path: string) => { readonly url: string; readonly caBundle: string }
  /** The paths that it was asked at since the last time, in their order by name. */
  readonly asked: () => readonly string[]
}

/** Starts one on the loopback interface; it ends with the test. */
export async function startWitness(t: Pick<Scope, 'teardown'>): Promise<Witness> {
  const asked = new Set<string>()
  const { url, bundle } = await startHttpsServer(t, async (request, response) => {
    // The API server adds its timeout as a query.
    asked.add(new URL(request.url ?? '/', 'https://witness').pathname.slice(1))
    const { request: review } = (await json(request)) as Loose
    const answer = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: review.uid, allowed: true },
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  const caBundle = Buffer.from(bundle).toString('base64')
  return {
    clientConfig: (path) => ({ url: `${url}/${path}`, caBundle }),
    asked() {
      const paths = [...asked].sort()
      asked.clear()
      return paths
    },
  }
}
