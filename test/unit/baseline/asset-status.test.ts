import { createHash } from 'node:crypto'
import t from 'tap'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  FIELD_MANAGER,
  MANAGED_BY,
} from '../../../src/shared/baseline/annotations.ts'
import {
  identityOn,
  isCreatable,
  isObsolete,
  statusOf,
} from '../../../src/shared/baseline/asset-status.ts'
import type { Asset } from '../../../src/shared/baseline/catalog/catalog.ts'
import type { Facts } from '../../../src/shared/baseline/facts/facts.ts'
import { readSettings } from '../../../src/shared/baseline/settings/settings.ts'
import { canonicalJson } from '../../../src/shared/engine/json/canonical.ts'
import { compileTemplate } from '../../../src/shared/engine/render.ts'
import { assetNamed, type Changes, catalog, FULL, factsWith } from './facts.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

interface Situation extends Changes {
  readonly asset: Asset
  readonly annotations?: Readonly<Record<string, string>>
}

const status = ({ asset, annotations = {}, ...changes }: Situation) =>
  statusOf(asset, factsWith(changes), readSettings(annotations).settings, sha256)

const metallb = assetNamed('metallb')
const descheduler = assetNamed('descheduler-loadaware')
const pci = assetNamed('pci-passthrough')
const withTemplate = (text: string): Asset => ({
  ...metallb,
  render: compileTemplate({ name: 'active/x.yaml.ejs', text }),
})

const HEADER =
  'apiVersion: metallb.io/v1beta1\nkind: MetalLB\nmetadata:\n  name: metallb\n  namespace: metallb-system\n'

t.test('an active asset has a labelled baseline and its digest', async (t) => {
  const baseline = {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'MetalLB',
    metadata: {
      name: 'metallb',
      namespace: 'metallb-system',
      labels: { [MANAGED_BY]: FIELD_MANAGER },
    },
    spec: {},
  }
  const digest = sha256(canonicalJson(baseline))
  t.strictSame(status({ asset: metallb }), { kind: 'active', baseline, digest })
})

t.test('the label stands beside those of the template, and over its own', async (t) => {
  const asset = withTemplate(`${HEADER}  labels:\n    team: net\n    ${MANAGED_BY}: somebody\n`)
  const active = status({ asset })
  t.strictSame(active.kind === 'active' && active.baseline.metadata.labels, {
    team: 'net',
    [MANAGED_BY]: FIELD_MANAGER,
  })
})

const inactive: readonly (readonly [
  what: string,
  Situation,
  reason: string,
  message: string,
  missed?: string,
])[] = [
  [
    'is not in the list',
    { asset: metallb, annotations: { [AUTOPILOT]: 'swap' } },
    'NotSelected',
    'not in the autopilot list',
  ],
  [
    'is excluded by name',
    { asset: metallb, annotations: { [DISABLED_RESOURCES]: '[metallb]' } },
    'Excluded',
    'switched off by disabled-resources',
  ],
  [
    "is excluded in the HyperConverged's namespace",
    {
      asset: assetNamed('hco-golden-config'),
      hco: { namespace: 'cnv' },
      annotations: { [DISABLED_RESOURCES]: '[{kind: "*", name: "*", namespace: cnv}]' },
    },
    'Excluded',
    'switched off by disabled-resources',
  ],
  [
    'has no API',
    { asset: metallb, served: {} },
    'NotServed',
    'the API metallb.io/v1beta1 MetalLB is not served',
  ],
  [
    'has its API in other versions',
    { asset: metallb, served: { 'metallb.io/MetalLB': ['v1'] } },
    'NotServed',
    'the API metallb.io/v1beta1 MetalLB is not served',
  ],
  [
    'was named and has no API',
    { asset: assetNamed('hco-golden-config'), served: {}, annotations: { [AUTOPILOT]: 'hco' } },
    'NotServed',
    'the API hco.kubevirt.io/v1|v1beta1 HyperConverged is not served',
    'hco.kubevirt.io/v1 HyperConverged',
  ],
  [
    'nobody opted in to and has no API',
    { asset: descheduler, served: {} },
    'NotServed',
    'the API operator.openshift.io/v1 KubeDescheduler is not served',
  ],
  [
    'somebody opted in to and has no API',
    { asset: descheduler, served: {}, hco: { annotations: { 'enable-loadaware': 'true' } } },
    'NotServed',
    'the API operator.openshift.io/v1 KubeDescheduler is not served',
    'operator.openshift.io/v1 KubeDescheduler',
  ],
  [
    'somebody opted in to, has no API, and waits for hardware too',
    {
      asset: { ...descheduler, conditions: [...descheduler.conditions, ...pci.conditions] },
      served: {},
      hco: { annotations: { 'enable-loadaware': 'true' } },
    },
    'NotServed',
    'the API operator.openshift.io/v1 KubeDescheduler is not served',
    'operator.openshift.io/v1 KubeDescheduler',
  ],
  [
    'was named and lacks an API that it needs besides its own',
    {
      asset: assetNamed('node-health-standard'),
      served: { 'remediation.medik8s.io/NodeHealthCheck': ['v1alpha1'] },
      annotations: { [AUTOPILOT]: 'remediation' },
    },
    'ConditionFalse',
    'waits until the API self-node-remediation.medik8s.io/SelfNodeRemediationTemplate is served',
    'self-node-remediation.medik8s.io/v1alpha1 SelfNodeRemediationTemplate',
  ],
  [
    'lacks an API that it needs besides its own, which nobody asked for',
    {
      asset: assetNamed('node-health-standard'),
      served: { 'remediation.medik8s.io/NodeHealthCheck': ['v1alpha1'] },
    },
    'ConditionFalse',
    'waits until the API self-node-remediation.medik8s.io/SelfNodeRemediationTemplate is served',
  ],
  [
    'nobody opted in to',
    { asset: descheduler },
    'ConditionFalse',
    'waits until the HyperConverged is annotated platform.kubevirt.io/enable-loadaware=true',
  ],
  [
    'waits for hardware',
    { asset: pci },
    'ConditionFalse',
    'waits until amd64PciDevicesOnWorkers on some node, or platform.kubevirt.io/vfio-device-ids names some',
  ],
  [
    'was asked for, and lacks the hardware',
    {
      asset: {
        ...descheduler,
        conditions: [
          ...descheduler.conditions,
          { type: 'hardware-detection', detector: 'gpuPresent' },
        ],
      },
      hco: { annotations: { 'enable-loadaware': 'true' } },
    },
    'ConditionFalse',
    'waits until gpuPresent on some node',
    'awaited',
  ],
  [
    'was asked for, and has an API that does not offer what it needs',
    {
      asset: assetNamed('fence-agents-template'),
      hco: { annotations: { 'enable-fence-agents': 'bmc-credentials' } },
      fields: {
        'fence-agents-remediation.medik8s.io/FenceAgentsRemediationTemplate/spec/template/spec/sharedSecretName': false,
      },
    },
    'ConditionFalse',
    'waits until the API fence-agents-remediation.medik8s.io/FenceAgentsRemediationTemplate is served and offers /spec/template/spec/sharedSecretName',
    'awaited',
  ],
  [
    'was asked for, and is for clusters of another shape',
    {
      asset: assetNamed('psi-enable-master'),
      hco: { annotations: { 'enable-loadaware': 'true' } },
    },
    'ConditionFalse',
    'waits until the topology is schedulableMasters=true',
  ],
  [
    'nobody has asked for, and can never be on a hosted cluster',
    { asset: assetNamed('psi-enable'), topology: { hostedControlPlane: true } },
    'ConditionFalse',
    'can never be active on this cluster: its control plane is hosted, so that its nodes are configured by spec.config of their NodePools, on the management cluster; put there what they need',
  ],
  [
    'finds nothing to set',
    {
      asset: descheduler,
      hco: { annotations: { 'enable-loadaware': 'true' } },
      enums: { 'operator.openshift.io/KubeDescheduler/spec/profiles': ['AffinityAndTaints'] },
    },
    'NotApplicable',
    'nothing to set on this cluster',
    'awaited',
  ],
]

for (const [what, situation, reason, message, missed] of inactive) {
  t.test(
    `an asset that ${what} is inactive: ${reason}${missed ? `, and missed: ${missed}` : ''}`,
    async (t) => {
      const found = status(situation)
      if (found.kind !== 'inactive') throw new Error(JSON.stringify(found))
      const { missed: api, isAwaited, ...rest } = found
      t.strictSame(rest, { kind: 'inactive', reason, message })
      const told = api ? `${api.group}/${api.version} ${api.kind}` : undefined
      t.equal(isAwaited ? 'awaited' : told, missed)
    },
  )
}

t.test(
  'a tombstone stands as such while it is selected, not excluded, and its API is there',
  async (t) => {
    const asset = { ...metallb, isTombstone: true }
    t.strictSame(status({ asset }), { kind: 'tombstone' })
    const rows: [Parameters<typeof status>[0], string][] = [
      [{ asset, annotations: { [AUTOPILOT]: 'swap-enable' } }, 'NotSelected'],
      [{ asset, annotations: { [DISABLED_RESOURCES]: '["metallb"]' } }, 'Excluded'],
      [{ asset, annotations: { [AUTOPILOT]: 'metallb' }, served: {} }, 'NotServed'],
    ]
    for (const [situation, reason] of rows) {
      const found = status(situation)
      t.match(found, { kind: 'inactive', reason })
      t.notOk('missed' in found)
    }
  },
)

t.test('what the cluster does not want is outgrown, what somebody decided is not', async (t) => {
  const pruned = { prune: true }
  t.ok(isObsolete(status({ asset: descheduler }), pruned))
  t.notOk(isObsolete(status({ asset: descheduler }), { prune: false }))
  t.notOk(isObsolete(status({ asset: metallb }), pruned))
  t.notOk(isObsolete(status({ asset: metallb, served: {} }), pruned))
  t.notOk(isObsolete(status({ asset: metallb, annotations: { [AUTOPILOT]: 'x' } }), pruned))
  const superseded = status({
    asset: assetNamed('node-health-standard'),
    hco: { annotations: { 'enable-fence-agents': 'bmc-credentials' } },
  })
  t.match(superseded, { reason: 'Superseded' })
  t.ok(isObsolete(superseded, { prune: false }), 'whether it is pruned or not')
})

t.test('off and observe are no status: everything is still computed', async (t) => {
  for (const text of ['false', 'observe']) {
    t.equal(status({ asset: metallb, annotations: { [AUTOPILOT]: text } }).kind, 'active')
  }
})

t.test('a fault of the template is a failure that names its file and line', async (t) => {
  const asset = withTemplate(`${HEADER}spec:\n  a: <%= facts.hco.spec.missing %>\n`)
  t.strictSame(status({ asset }), {
    kind: 'failed',
    reason: 'RenderFailed',
    message: 'active/x.yaml.ejs:7: value facts.hco.spec.missing is not set',
  })
})

t.test('a template does not see how many machines there are', async (t) => {
  const asset = withTemplate(`${HEADER}spec:\n  a: <%= facts.pools.worker %>\n`)
  t.strictSame(status({ asset }), {
    kind: 'failed',
    reason: 'RenderFailed',
    message: 'active/x.yaml.ejs:7: value facts.pools is not set',
  })
})

t.test('a condition that cannot be judged is a failure, never false', async (t) => {
  const facts = { ...factsWith(), hardware: {} } as unknown as Facts
  t.strictSame(statusOf(pci, facts, readSettings({}).settings, sha256), {
    kind: 'failed',
    reason: 'RenderFailed',
    message: 'the fact amd64PciDevicesOnWorkers is not known',
  })
})

t.test('never throws, whatever is not known', async (t) => {
  const nothing = { ...factsWith({ served: {} }), hardware: {}, topology: {} } as unknown as Facts
  const everything = { ...nothing, served: factsWith().served }
  for (const asset of catalog) {
    for (const facts of [nothing, everything]) {
      t.doesNotThrow(() => statusOf(asset, facts, readSettings({}).settings, sha256), asset.name)
    }
  }
})

const digests = (changes: Changes) =>
  catalog.map((asset) => {
    const at = status({ asset, ...changes })
    return at.kind === 'active' ? `${asset.name} ${at.digest}` : asset.name
  })

t.test('the same facts give the same digests, in whatever order they were read', async (t) => {
  const expected = digests(FULL)
  t.same(
    expected.filter((line) => !line.includes(' ')),
    ['fence-agents-template', 'fence-agents-health-check', 'fence-agents-health-check-master'],
  )
  t.same(digests(FULL), expected)
  const spec = {
    featureGates: {},
    virtualization: { liveMigrationConfig: { parallelMigrationsPerCluster: 7 } },
  }
  const reversed = Object.fromEntries(Object.entries(spec).reverse())
  const [one, other] = [spec, reversed].map((value) =>
    digests({ ...FULL, hco: { ...FULL.hco, spec: value } }),
  )
  t.same(one, other)
  t.notSame(one, expected, 'another fact gives another digest')
})

t.test('the number of nodes, and which pools they are in, never changes a digest', async (t) => {
  const expected = digests(FULL)
  for (const pools of [{}, { worker: 0 }, { worker: 1_000, master: 3, infra: 7 }]) {
    t.same(digests({ ...FULL, pools }), expected, JSON.stringify(pools))
  }
  t.same(digests({ ...FULL, heirs: { worker: ['infra'] } }), expected)
})

t.test(
  'an object has the newest version that is served, and a namespace where it has one',
  async (t) => {
    const hco = assetNamed('hco-golden-config')
    const on = (asset: Asset, versions: readonly string[]) =>
      identityOn(
        asset,
        factsWith({
          hco: { namespace: 'cnv' },
          served: {
            'hco.kubevirt.io/HyperConverged': versions,
            'metallb.io/MetalLB': versions,
            'machineconfiguration.openshift.io/MachineConfig': versions,
            '/Secret': versions,
          },
        }),
      )
    const identity = { kind: 'HyperConverged', name: 'kubevirt-hyperconverged', namespace: 'cnv' }
    t.strictSame(on(hco, ['v1beta1', 'v1']), { apiVersion: 'hco.kubevirt.io/v1', ...identity })
    t.strictSame(on(hco, ['v1beta1']), { apiVersion: 'hco.kubevirt.io/v1beta1', ...identity })
    t.equal(on(hco, ['v2']), undefined)
    t.equal(on(metallb, ['v1beta1'])?.namespace, 'metallb-system')
    t.strictSame(on(pci, ['v1']), {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      name: '50-virt-pci-passthrough',
    })
    const secret = { ...pci, object: { ...pci.object, group: '', kind: 'Secret' } }
    t.equal(on(secret, ['v1'])?.apiVersion, 'v1', 'the core group has no name')
  },
)

t.test('what holds what only its admin knows is never created by us', async (t) => {
  const others = catalog.filter((asset) => !isCreatable(asset))
  t.same(
    others.map(({ name }) => name),
    ['hco-golden-config', 'fence-agents-template'],
  )
})

const TEMPLATE = assetNamed('fence-agents-template')
const CHECK = assetNamed('fence-agents-health-check')
const fencing = { hco: { annotations: { 'enable-fence-agents': 'bmc-credentials' } } }

t.test('an asset is not active without the one that it needs', async (t) => {
  t.match(status({ asset: CHECK, ...fencing }), { kind: 'active' })
  const excluded = {
    asset: CHECK,
    ...fencing,
    annotations: { [DISABLED_RESOURCES]: '["fence-agents-template"]' },
  }
  t.match(status(excluded), {
    kind: 'inactive',
    reason: 'ConditionFalse',
    message: /^needs fence-agents-template, which is not active: switched off/,
  })
  t.match(
    status({ ...excluded, asset: assetNamed('node-health-standard') }),
    { kind: 'active' },
    'then nothing takes the place of the standard one',
  )
  const broken = {
    ...TEMPLATE,
    render: () => {
      throw new Error('broken')
    },
  }
  t.match(status({ asset: { ...CHECK, needs: broken }, ...fencing }), {
    kind: 'failed',
    message: 'broken',
  })
})

t.test('what a schema does not say yet is no "no"', async (t) => {
  const unknown = { ...fencing, fields: {}, enums: {} }
  for (const asset of [TEMPLATE, CHECK, assetNamed('observability-ui')]) {
    const found = status({ asset, ...unknown })
    t.match(found, { kind: 'inactive', reason: 'SchemaMissing' }, asset.name)
    t.notOk(isObsolete(found, { prune: true }), 'nothing is deleted for it')
  }
  t.match(status({ asset: TEMPLATE, ...unknown, served: {} }), { reason: 'NotServed' })
  const needing = { ...assetNamed('metallb'), needs: TEMPLATE }
  t.match(status({ asset: needing, ...unknown }), { reason: 'SchemaMissing' })
})
