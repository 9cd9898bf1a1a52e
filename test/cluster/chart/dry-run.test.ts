import t from 'tap'
import { BASELINE } from '../../../src/shared/baseline/names.ts'
import { isNeeded } from '../../../tools/control-plane/definitions.ts'
import { helmOn, NAMESPACE, notesArgs, templateArgs } from '../../chart/helm.ts'
import { CHOSEN, INSTALLATIONS } from '../../chart/matrix.ts'
import { podInNotes } from '../../chart/pods.ts'
import { testCluster } from '../harness/fixture.ts'

t.test('what the chart renders, asked of the API server', async (t) => {
  const cluster = await testCluster(t, {
    crds: (one) => isNeeded(one) || one.name.endsWith('.cert-manager.io'),
    samples: false,
  })
  const helm = await helmOn()
  const restricted = Object.fromEntries(
    ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  )
  const createNamespace = (name: string) =>
    cluster.admin('POST', '/api/v1/namespaces', { metadata: { name, labels: restricted } })
  await createNamespace(NAMESPACE)
  await cluster.admin('POST', `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, {
    metadata: { name: BASELINE.reconcilerAccount },
  })
  const applied = (input: string) =>
    cluster.kubectl(['apply', '--dry-run=server', '--server-side', '--validate=strict', '-f-'], {
      input,
    })

  for (const [what, values] of Object.entries(INSTALLATIONS)) {
    await t.test(`an installation ${what} is taken without a warning`, async (t) => {
      const { stdout, stderr } = await helm(templateArgs(), { ...CHOSEN, ...values })
      t.equal(stderr, '')
      // A dry run makes none, not even those that the chart does.
      const namespaces = [...stdout.matchAll(/^ {2}namespace: "?([a-z0-9-]+)"?$/gm)]
      for (const [, name = ''] of namespaces) await createNamespace(name)
      const said = await applied(stdout)
      t.match(said, { code: 0, stderr: '' }, said.stderr)
      t.equal(said.stdout.trim().split('\n').length, stdout.match(/^kind: /gm)?.length)
    })

    await t.test(`the notes of an installation ${what} have a pod that may run`, async (t) => {
      const { stdout } = await helm(notesArgs(), { ...CHOSEN, ...values })
      const { metadata, spec } = podInNotes(stdout)
      const named = { ...metadata, name: 'diff', namespace: NAMESPACE }
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: named, spec }
      const said = await applied(JSON.stringify(pod))
      t.match(said, { code: 0, stderr: '' }, said.stderr)
    })
  }
})
