import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { FIELD_MANAGER } from '../../../src/shared/baseline/annotations.ts'
import { loadDefinitions } from '../../../tools/control-plane/definitions.ts'
import { install } from '../../../tools/control-plane/install.ts'
import { CHART, helmOn, templateArgs } from '../../chart/helm.ts'
import { autopilotCluster, ENTRY, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { blocks, forTools, inGit } from './page.ts'

const CRDS = join(import.meta.dirname, '../../crds')
const ROOT = join(import.meta.dirname, '../../..')
const PROGRAM = 'npm run -s autopilot --'
// What Argo CD does not know among these it ignores without a word.
const SYNC_OPTIONS = [
  'CreateNamespace=true',
  'RespectIgnoreDifferences=true',
  'ServerSideApply=true',
]

t.test('the page on GitOps', async (t) => {
  const cluster = await autopilotCluster(t)
  const { admin, kubectl } = cluster
  const alice = cluster.person('alice')
  const kubeconfig = cluster.kubeconfigFor({ name: 'alice', groups: ['platform-admins'] })

  await t.test('tells the tools what their own definitions take', async (t) => {
    await install(
      cluster,
      loadDefinitions(CRDS, ({ category }) => category === 'gitops'),
    )
    for (const name of ['argocd', 'flux-system'])
      await admin('POST', '/api/v1/namespaces', { metadata: { name } })
    const apply = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f-']
    const said = (object: object) => kubectl(apply, { input: JSON.stringify(object) })
    t.equal(forTools.length, 5)
    for (const object of forTools) {
      t.match(await said(object), { code: 0 }, object.metadata.name)
      const misspelt = { ...object, spec: { ...(object as Loose).spec, intervall: '1m' } }
      t.match(await said(misspelt), { code: 1, stderr: /intervall/ }, 'nothing else would do')
    }
  })

  await t.test('has Argo CD leave out what our manager owns', async (t) => {
    const [platform, ...others] = forTools.filter(({ kind }) => kind === 'Application') as Loose[]
    t.same(platform.spec.ignoreDifferences[0].managedFieldsManagers, [FIELD_MANAGER])
    const options = [platform, ...others].flatMap(({ spec }) => spec.syncPolicy.syncOptions)
    t.same(options.sort(), SYNC_OPTIONS)
  })

  await t.test('has both tools install the chart with values that it takes', async (t) => {
    const helm = await helmOn()
    const specs = forTools.map(({ spec }: Loose) => spec)
    const [values, ...others] = specs.flatMap(
      (spec) => spec.source?.helm?.valuesObject ?? spec.values ?? [],
    )
    t.same(others, [values])
    t.ok((await helm(templateArgs(), values)).isGood)
    const [path] = specs.flatMap((spec) => (spec.source?.helm ? spec.source.path : []))
    t.equal(join(ROOT, path), CHART)
  })

  await t.test('has commands that say what it says', async (t) => {
    const folder = join(cluster.dataDir, 'home/platform')
    mkdirSync(folder)
    const [hco, healthCheck] = inGit as Loose[]
    const keep = (object: object) => writeFileSync(join(folder, 'hco.yaml'), stringify(object))
    const lines = blocks('sh').flatMap((block) => block.split('\n'))
    const run = (word: string, more = '') => {
      const [line = ''] = lines.filter((line) => line.startsWith(`${PROGRAM} ${word} `))
      const here = line
        .trim()
        .replace(PROGRAM, `'${process.execPath}' '${ENTRY}'`)
        .replace('KUBECONFIG', `'${kubeconfig}'`)
      return alice.shell(here.replace(/( >|$)/, `${more}$1`))
    }
    writeFileSync(join(folder, 'health-check.yaml'), stringify(healthCheck))
    keep(hco)
    const [describe = ''] = lines.filter((line) => line.startsWith('kubectl get nodes,'))
    t.match(await alice.shell(describe), { code: 0 })
    t.match(await run('check'), { code: 0 })
    t.match((await alice.shell('cat check.xml')).stdout, /<testsuite.* failures="0"/)
    const against = parse(stringify(hco))
    against.spec.deployment = { uninstallStrategy: 'RemoveWorkloads' }
    keep(against)
    t.match(await run('check'), { code: 1 })
    t.match((await alice.shell('cat check.xml')).stdout, /uninstallStrategy kept at /)

    const printed = (await run('override', ` --namespace=${NAMESPACE}`)).stdout
    const [, annotation = '', value = ''] = /--overwrite (\S+?)='(.*)'\n$/.exec(printed) ?? []
    against.metadata.annotations[annotation] = value
    keep(against)
    t.match(await run('check'), { code: 0 }, 'with what the command printed in the manifest')
  })
})
