import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAuthority, createServing } from '../../../../src/reconciler/admission/issuance.ts'
import { trustSourceOf } from '../../../../src/reconciler/admission/trust-source.ts'
import { baselineWebhooks } from '../../../../src/shared/baseline/generated/webhook-rules.ts'
import { catalog, factsWith } from '../../baseline/facts.ts'

t.test('of a file of authorities nothing but its certificates is registered', async (t) => {
  const authority = await createAuthority(Date.now())
  const leaf = await createServing(authority, ['127.0.0.1'], Date.now())
  const webhookCa = join(t.testdir({}), 'ca.crt')
  const { certificate } = authority
  writeFileSync(
    webhookCa,
    `# Añejo – 認証局 “1”\n${certificate}\n${leaf.key}\n# – 2\n${certificate}`,
  )
  const end = new AbortController()
  t.teardown(() => end.abort())
  const source = trustSourceOf(
    { webhookCa, caInjection: undefined },
    { onChange: () => undefined, onTrouble: () => undefined, signal: end.signal },
  )
  const bundle = source.kind === 'file' ? source.read() : ''
  t.equal(bundle, certificate + certificate)
  const [configuration] = baselineWebhooks({
    catalog,
    facts: factsWith({}),
    customResources: new Set(),
    endpoint: { url: 'https://127.0.0.1:1' },
    timeoutS: 1,
    trust: { bundle },
    failurePolicy: 'Ignore',
    trustedUser: 'x',
    owner: undefined,
  })
  t.match(configuration?.webhooks, [{ clientConfig: { caBundle: btoa(bundle) } }])
})
