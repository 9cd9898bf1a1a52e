import { join } from 'node:path'
import t from 'tap'
import { createAuthority, createServing } from '../../../src/reconciler/admission/issuance.ts'
import { loadDefinitions } from '../../../tools/control-plane/definitions.ts'
import { install } from '../../../tools/control-plane/install.ts'
import { NAMESPACE } from '../../chart/helm.ts'
import type { Loose } from '../../chart/pods.ts'
import { openRehearsal } from '../../e2e/rehearsal.ts'
import { dataOf, isJudged } from '../certificates/certificates.ts'
import { MUTATING, VALIDATING } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { embeddedSite } from './embedded-site.ts'

const CRDS = join(import.meta.dirname, '../../crds')
const NAME = 'virt-platform-autopilot-webhook'
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
const SERVICE = `/api/v1/namespaces/${NAMESPACE}/services/${NAME}`
const CERTIFICATE = `/apis/cert-manager.io/v1/namespaces/${NAMESPACE}/certificates/${NAME}`
const ASKS_FOR_SECRET = 'service.beta.openshift.io/serving-cert-secret-name'

/** Who makes certificates beside us: how the chart asks for one, and how a registration asks for the authority. */
const MODES = {
  'cert-manager': {
    path: CERTIFICATE,
    read: ({ spec }: Loose) => ({ secret: spec.secretName, hosts: spec.dnsNames }),
    injection: { 'cert-manager.io/inject-ca-from': `${NAMESPACE}/${NAME}` },
    hasAuthority: true,
  },
  'service-ca': {
    path: SERVICE,
    read: ({ metadata }: Loose) => ({
      secret: metadata.annotations[ASKS_FOR_SECRET],
      hosts: [`${NAME}.${NAMESPACE}.svc`],
    }),
    injection: { 'service.beta.openshift.io/inject-cabundle': 'true' },
    hasAuthority: false,
  },
}

t.test('the chart with certificates that somebody else makes', async (t) => {
  const site = await embeddedSite(t, {})
  const { cluster } = site
  const isOfCertManager = ({ name }: { name: string }) => name.endsWith('.cert-manager.io')
  await install(cluster, loadDefinitions(CRDS, isOfCertManager))
  const rehearsal = await openRehearsal(site)
  t.teardown(() => rehearsal.close())
  const { helm, read, patch } = rehearsal
  const one = { replicas: 1 }

  for (const [mode, { path, read: readWish, injection, hasAuthority }] of Object.entries(MODES)) {
    await t.test(
      `${mode}: serves with the one that it asks for, and is trusted by it`,
      async (t) => {
        const values = {
          ...rehearsal.values,
          certificates: { mode },
          webhook: one,
          reconciler: { ...(rehearsal.values.reconciler as object), ...one },
        }
        const installing = helm('install', ['--create-namespace', '--wait', '--timeout=5m'], values)
        const asked = async () => {
          const { secret, hosts } = readWish(await until('it asks for one', () => read(path)))
          const authority = await createAuthority(Date.now())
          const { certificate, key } = await createServing(authority, hosts, Date.now())
          const bundle = hasAuthority ? { 'ca.crt': authority.certificate } : {}
          const data = dataOf({ 'tls.crt': certificate, 'tls.key': key, ...bundle })
          const metadata = { name: secret }
          const made = { metadata, type: 'kubernetes.io/tls', data }
          t.match(await cluster.admin('POST', SECRETS, made), { status: 201 })
          return { secret, authority: dataOf({ text: authority.certificate }).text }
        }
        const [{ secret, authority }] = await Promise.all([asked(), installing])
        for (const configuration of [MUTATING, VALIDATING]) {
          const { metadata } = await until('it is registered', () => read(configuration))
          t.match(metadata.annotations, injection)
          const add = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: authority }]
          t.match(await patch(configuration, add), { status: 200 })
        }
        await until('writes are judged', () => isJudged(cluster))
        const { items } = await read(SECRETS)
        const own = items.filter(({ metadata }: Loose) => metadata.name.endsWith('-webhook-tls'))
        t.same(own, [], 'nothing is made of our own')
        await helm('uninstall', ['--wait', '--timeout=5m'])
        await cluster.admin('DELETE', `${SECRETS}/${secret}`)
      },
    )
  }
})
