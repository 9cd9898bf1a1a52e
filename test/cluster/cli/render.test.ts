import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { knownSchemas } from '../../../src/cli/assets.ts'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import { createSchemas, type KindQuery, schemaKey } from '../../../src/shared/cluster/schemas.ts'
import { canonicalJson } from '../../../src/shared/engine/json/canonical.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { drift } from '../../../src/shared/engine/merge/merge.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { install } from '../../../tools/control-plane/install.ts'
import { loadManifests } from '../../../tools/control-plane/manifests.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import type { Said } from '../harness/fixture.ts'
import { HYPERCONVERGED, STATE } from '../harness/objects.ts'
import { ownProgram } from '../harness/program.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'
import type { TypeMeta } from '../merge/served.ts'

const NEWER = join(import.meta.dirname, '../../clusters/definitions')
const FENCING = 'fence-agents-remediation.medik8s.io/v1alpha1/FenceAgentsRemediationTemplate'
/** What was said, but for objects of the dump that no fact is read from: the leader may have made some before it was to observe. */
const withoutSkipped = ({ stderr, ...said }: Said): Said => ({
  ...said,
  stderr: stderr.replace(/^.* --nodes: skipped .*\n/gm, ''),
})

const FACT_KINDS = `nodes,${[
  'infrastructures',
  'schedulers',
  'networks.config.openshift.io',
  'machineconfigpools',
  'kubeletconfigs.machineconfiguration.openshift.io',
  'machineconfigs',
  'nodehealthchecks',
  'selfnoderemediationtemplates',
  'daemonsets',
].join()}`

/** The digests in the table that `-o status` prints, by asset, of those that have a baseline. */
const digestsIn = (status: string): Readonly<Record<string, string>> => {
  const rows = status.trim().split('\n').slice(1)
  const cells = rows.map((row) => row.split(/ +/))
  return Object.fromEntries(
    cells.flatMap(([asset = '', , digest = '']) => (digest === '-' ? [] : [[asset, digest]])),
  )
}

const isOurs = ({ manager }: Loose) => manager === 'virt-platform-autopilot'

/** Where the object of an asset is on the API server. */
function pathOn({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): string {
  const asset = ownProgram().catalog.find(
    ({ object }) => object.kind === kind && object.name === name,
  )
  if (!asset) throw new Error(`no asset yields ${kind} ${name}`)
  const { resource } = asset.object
  return pathOf({ apiVersion, resource, ...(namespace !== undefined && { namespace }) }, name)
}

const objectsIn = (yaml: string) =>
  parseAllDocuments(yaml).map((document) => document.toJS() as KubeObject)

t.test('render and the running product have one opinion', async (t) => {
  const cluster = await autopilotCluster(t, {
    isEarly: true,
    isOwn: true,
    only: ({ kind }) => kind !== 'HyperConverged',
  })
  const { read } = cluster
  const kubeconfig = cluster.kubeconfigFor({ name: 'alice', groups: ['platform-admins'] })
  const onCluster = [`--kubeconfig=${kubeconfig}`, `--namespace=${NAMESPACE}`]
  const alice = cluster.person('alice')
  const published = async () =>
    JSON.parse((await read(STATE))?.data['baselines.json'] ?? '{}') as Record<string, string>
  const annotate = async (...pairs: readonly string[]) =>
    t.match(await alice(['annotate', ...HYPERCONVERGED, '--overwrite', ...pairs]), { code: 0 })
  const untilPublished = (asset: string, isWanted = true) =>
    until(
      `the baseline of ${asset} is published: ${isWanted}`,
      async () => asset in (await published()) === isWanted,
    )
  const dump = async (what: readonly string[], format: string) => {
    const said = await alice(['get', ...what, '-o', format])
    t.match(said, { code: 0 })
    const file = join(cluster.dataDir, `${what.join('-')}.${format}`)
    writeFileSync(file, said.stdout)
    return file
  }

  const schemasOf = async (kinds: readonly (Partial<KindQuery> & TypeMeta)[]): Promise<Loose> => {
    const client = await connect(loadKubeconfig(kubeconfig))
    try {
      const asked = { enumPointers: [], fieldPointers: [] }
      return await createSchemas(client)(kinds.map((kind) => ({ ...asked, ...kind })))
    } finally {
      await client.close()
    }
  }

  await t.test('without a HyperConverged there is nothing to render', async (t) => {
    const said = await run(['render', ...onCluster])
    t.match(said, { code: 1, stdout: '', stderr: /there is no HyperConverged: nothing to do/ })
  })

  await cluster.install(({ kind }) => kind === 'HyperConverged')
  await annotate(
    'platform.kubevirt.io/autopilot=observe',
    'platform.kubevirt.io/enable-loadaware=true',
  )
  await untilPublished('descheduler-loadaware')

  await t.test('for a cluster it prints the baselines that are published', async (t) => {
    const status = await run(['render', ...onCluster, '-o', 'status'])
    t.equal(status.code, 0, status.stderr)
    t.match(status.stderr, /the autopilot only observes/)
    t.same(digestsIn(status.stdout), await published())

    const yaml = await run(['render', ...onCluster])
    const digests = objectsIn(yaml.stdout).map((object) => sha256(canonicalJson(object)))
    t.same(digests, Object.values(digestsIn(status.stdout)))
    const json = await run(['render', ...onCluster, '--output=json'])
    t.same(JSON.parse(json.stdout).items, objectsIn(yaml.stdout))
  })

  await t.test('offline it prints the same bytes, from dumps of the cluster', async (t) => {
    const offline = [
      `--namespace=${NAMESPACE}`,
      `--hco=${await dump(['hyperconvergeds', '-A'], 'yaml')}`,
      `--nodes=${await dump([FACT_KINDS, '-A'], 'yaml')}`,
    ]
    for (const format of ['yaml', 'json', 'status']) {
      const [here, there] = await Promise.all([
        run(['render', ...offline, '-o', format]),
        run(['render', ...onCluster, '-o', format]),
      ])
      t.same(withoutSkipped(here), there, format)
    }
    const nodes = await dump(['nodes'], 'json')
    const others = await dump([FACT_KINDS.replace('nodes,', ''), '-A'], 'json')
    const apart = [...offline.slice(0, 2), `--nodes=${nodes}`, `--nodes=${others}`]
    t.same(
      (await run(['render', ...apart])).stdout,
      (await run(['render', ...offline])).stdout,
      'as JSON, in two files',
    )
  })

  await t.test('what is applied is what was rendered', async (t) => {
    const rendered = objectsIn((await run(['render', ...onCluster])).stdout)
    await annotate('platform.kubevirt.io/autopilot-')
    const schemas = await schemasOf(rendered.map(({ apiVersion, kind }) => ({ apiVersion, kind })))
    for (const baseline of rendered) {
      const { namespace } = baseline.metadata
      if (namespace && !(await read(`/api/v1/namespaces/${namespace}`))) continue
      const path = pathOn(baseline)
      const live = await until(`${path} is ours`, async () => {
        const found = await read(path)
        return found?.metadata.managedFields.some(isOurs) && found
      })
      t.same(drift(schemas.get(schemaKey(baseline)).tree, live, baseline), [], path)
    }
    t.same(objectsIn((await run(['render', ...onCluster])).stdout), rendered)
  })

  await t.test('what somebody overrides is rendered as it is before', async (t) => {
    const before = (await run(['render', ...onCluster])).stdout
    const patch = '[{"op":"add","path":"/spec/minHealthy","value":"60%"}]'
    const check = ['nodehealthcheck', 'virt-node-health-check']
    t.match(await alice(['annotate', ...check, `platform.kubevirt.io/patch=${patch}`]), { code: 0 })
    t.equal((await run(['render', ...onCluster])).stdout, before)
  })

  await t.test('a device that vanished counts as long as it does for the leader', async (t) => {
    t.match(await alice(['delete', 'node', 'worker-gpu-0']), { code: 0 })
    await until('its absence is noted', async () =>
      (await read(STATE)).data['hardware.json'].includes('"pciDevicesPresent":{"value":true,"f'),
    )
    const { stdout } = await run(['render', ...onCluster, '-o', 'status'])
    t.same(digestsIn(stdout), await published())
    t.ok('pci-passthrough' in (await published()))
  })

  await t.test('a setting that is invalid keeps the meaning that it had', async (t) => {
    await annotate('platform.kubevirt.io/disabled-resources=["metallb"]')
    await untilPublished('metallb', false)
    await cluster.withoutWebhook(async () => {
      await annotate('platform.kubevirt.io/disabled-resources=metallb')
      const said = await run(['render', ...onCluster, '-o', 'status'])
      t.match(said.stderr, /disabled-resources must be a YAML list/)
      t.match(said.stdout, /^metallb +Excluded +- .* switched off by disabled-resources$/m)
    })
    await annotate('platform.kubevirt.io/disabled-resources-')
    await untilPublished('metallb')
  })

  await t.test('what is switched off is told', async (t) => {
    await annotate('platform.kubevirt.io/autopilot=false')
    const { stderr } = await run(['render', ...onCluster, '--asset=metallb'])
    t.match(stderr, /HyperConverged openshift-cnv\/\S+: the autopilot is switched off/)
    await annotate('platform.kubevirt.io/autopilot-')
  })

  await t.test('a HyperConverged that is not there is not chosen', async (t) => {
    const said = await run(['render', ...onCluster, '--hco-namespace=elsewhere'])
    t.match(said, { code: 1, stderr: /there is no HyperConverged/ })
  })

  await t.test(
    'the schemas that come with the program are those of the newest operators',
    async (t) => {
      const known = knownSchemas()
      const queries = [...known].map(([key, { enums, fields }]) => ({
        apiVersion: key.slice(0, key.lastIndexOf('/')),
        kind: key.slice(key.lastIndexOf('/') + 1),
        enumPointers: Object.keys(enums),
        fieldPointers: Object.keys(fields),
      }))
      await install(cluster, loadManifests(NEWER))
      // A schema is published some moments after its definition is taken.
      const served = await until('the newer definitions are published', async () => {
        const found = await schemasOf(queries)
        const specOf = (version: string) =>
          found.get(`hco.kubevirt.io/${version}/HyperConverged`)?.tree.fields.spec.fields
        const isNew =
          found.get(FENCING)?.fields['/spec/template/spec/sharedSecretName'] &&
          specOf('v1')?.observability &&
          specOf('v1beta1')?.changedBlockTrackingLabelSelectors
        return isNew && found
      })
      for (const [key, schema] of known) t.same(served.get(key), schema, key)
    },
  )
})
