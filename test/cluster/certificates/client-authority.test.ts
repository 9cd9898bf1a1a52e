import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import t from 'tap'
import { requestOf, say, statusIn } from '../../unit/webhook/door.ts'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HEALTH_CHECK } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { createClientCertificate } from './client-certificate.ts'

const ADMISSION = 'apiserver.config.k8s.io/v1'

/** Files that have an API server show this certificate to webhooks, and the flag that says so. */
function shownToWebhooks(
  folder: string,
  { certificate, key }: ReturnType<typeof createClientCertificate>,
) {
  const write = (name: string, content: string | object) => {
    const file = join(folder, name)
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  const user = {
    'client-certificate': write('client.crt', certificate),
    'client-key': write('client.key', key),
  }
  // By this name every webhook is meant.
  const kubeConfigFile = write('webhooks.kubeconfig', {
    apiVersion: 'v1',
    kind: 'Config',
    users: [{ name: '*', user }],
  })
  const plugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'].map((name) => ({
    name,
    configuration: { apiVersion: ADMISSION, kind: 'WebhookAdmissionConfiguration', kubeConfigFile },
  }))
  const config = { apiVersion: ADMISSION, kind: 'AdmissionConfiguration', plugins }
  return {
    flag: `--admission-control-config-file=${write('admission.json', config)}`,
    authority: user['client-certificate'],
  }
}

t.test('a webhook that asks callers for a certificate', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'autopilot-client-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const trusted = createClientCertificate('kube-apiserver')
  const { flag, authority } = shownToWebhooks(folder, trusted)
  const cluster = await autopilotCluster(t, {
    apiserverFlags: [flag],
    webhookFlags: [`--client-ca=${authority}`],
  })
  const alice = cluster.person('alice')
  const edit = (minHealthy: string, ...options: readonly string[]) =>
    alice([
      'patch',
      'nodehealthcheck',
      'virt-node-health-check',
      '--type=merge',
      `--patch=${JSON.stringify({ spec: { minHealthy } })}`,
      ...options,
    ])
  const port = cluster.autopilot.webhookPort
  const review = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' })

  await t.test('answers the API server that has one', async (t) => {
    const { code, stderr } = await edit('1%')
    t.equal(code, 0)
    t.match(stderr, /\/spec\/minHealthy kept at "51%"/)
  })

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'somebody on the pod network forges reviews, where the webhook has `--client-ca`',
      outcome: 'they are not let in: nothing is read of them, and nothing is told',
    },
    async (t) => {
      for (let round = 0; round < 8; round++)
        t.equal(statusIn(await say({ port }, ...requestOf(review))), undefined)
      const other = createClientCertificate('kube-apiserver')
      for (const [{ certificate, key }, isLetIn] of [
        [other, false],
        [trusted, true],
      ] as const) {
        const socket = connect({
          port,
          host: '127.0.0.1',
          cert: certificate,
          key,
          rejectUnauthorized: false,
        })
        socket.on('error', () => undefined)
        const heard = new Promise<string>((resolve) => {
          let text = ''
          socket.on('data', (chunk: Buffer) => {
            text += chunk
          })
          socket.on('close', () => resolve(text))
        })
        for (const part of requestOf(review)) socket.write(part)
        t.equal(statusIn(await heard), isLetIn ? 400 : undefined)
      }
      t.match((await edit('2%')).stderr, /\/spec\/minHealthy kept at "51%"/)
    },
  )

  await t.test('asks for it with the next serving certificate too', async (t) => {
    const secret = '/api/v1/namespaces/autopilot-test/secrets/virt-platform-autopilot-webhook-tls'
    const loads = () => cluster.log('webhook').split('serving certificate loaded').length
    const before = loads()
    t.equal((await cluster.admin('DELETE', secret)).status, 200)
    await until('the webhook has the new one', async () => loads() > before, 60_000)
    await until(
      'writes are judged again',
      async () => /kept at "51%"/.test((await edit('3%', '--dry-run=server')).stderr),
      60_000,
    )
    t.equal(statusIn(await say({ port }, ...requestOf(review))), undefined)
    t.equal((await cluster.read(HEALTH_CHECK)).spec.minHealthy, '51%')
  })
})
