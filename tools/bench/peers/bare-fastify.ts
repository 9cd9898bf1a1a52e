// The floor: what TLS, HTTP and JSON alone cost in Node. It allows everything and looks at nothing but the uid.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Fastify from 'fastify'

const [port, certificates = ''] = process.argv.slice(2)
const pem = (name: string) => readFileSync(join(certificates, name))

interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly request: { readonly uid: string }
}

// The same limits as the product's, since some of them cost time.
const app = Fastify({
  https: { key: pem('tls.key'), cert: pem('tls.crt'), minVersion: 'TLSv1.2' },
  bodyLimit: 7 << 20,
  keepAliveTimeout: 120_000,
  requestTimeout: 10_000,
  onProtoPoisoning: 'ignore',
  onConstructorPoisoning: 'ignore',
})
app.post<{ Body: Review }>('/mutate', async ({ body: { apiVersion, kind, request } }) => ({
  apiVersion,
  kind,
  response: { uid: request.uid, allowed: true },
}))
await app.listen({ host: '127.0.0.1', port: Number(port) })
