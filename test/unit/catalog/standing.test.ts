import { createHash } from 'node:crypto'
import t from 'tap'
import type { Asset } from '../../../src/shared/catalog/catalog.ts'
import type { Facts } from '../../../src/shared/catalog/facts.ts'
import { readSettings } from '../../../src/shared/catalog/settings.ts'
import { identityOn, isCreatable, standingOf } from '../../../src/shared/catalog/standing.ts'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  FIELD_MANAGER,
  MANAGED_BY,
} from '../../../src/shared/engine/annotations.ts'
import { canonicalJson } from '../../../src/shared/engine/canonical.ts'
import { compileTemplate } from '../../../src/shared/engine/render.ts'
import { assetNamed, type Changes, catalog, factsWith } from './facts.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

interface Situation extends Changes {
  readonly asset: Asset
  readonly annotations?: Readonly<Record<string, string>>
}

const standing = ({ asset, annotations = {}, ...changes }: Situation) =>
  standingOf(asset, factsWith(changes), readSettings(annotations).settings, sha256)

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
  t.strictSame(standing({ asset: metallb }), { kind: 'active', baseline, digest })
})

t.test('the label stands beside those of the template, and over its own', async (t) => {
  const asset = withTemplate(`${HEADER}  labels:\n    team: net\n    ${MANAGED_BY}: somebody\n`)
  const active = standing({ asset })
  t.strictSame(active.kind === 'active' && active.baseline.metadata.labels, {
    team: 'net',
    [MANAGED_BY]: FIELD_MANAGER,
  })
})

const NEITHER =
  'waits until not (the HyperConverged is annotated platform.kubevirt.io/enable-fence-agents=true)'

const inactive: readonly (readonly [
  what: string,
  Situation,
  reason: string,
  message: string,
  isMissed?: boolean,
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
    true,
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
    true,
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
    true,
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
    'waits until pciDevicesPresent on some node',
  ],
  [
    'would race with another',
    {
      asset: assetNamed('node-health-standard'),
      hco: { annotations: { 'enable-fence-agents': 'true' } },
    },
    'ConditionFalse',
    NEITHER,
  ],
  [
    'finds nothing to set',
    {
      asset: descheduler,
      hco: { annotations: { 'enable-loadaware': 'true' } },
      enums: { 'descheduler-loadaware': { profiles: ['AffinityAndTaints'] } },
    },
    'NotApplicable',
    'nothing to set on this cluster',
  ],
]

for (const [what, situation, reason, message, isMissed = false] of inactive) {
  t.test(
    `an asset that ${what} is inactive: ${reason}${isMissed ? ', and missed' : ''}`,
    async (t) => {
      t.strictSame(standing(situation), { kind: 'inactive', reason, message, isMissed })
    },
  )
}

t.test('off and observe are no standing: everything is still computed', async (t) => {
  for (const text of ['false', 'observe']) {
    t.equal(standing({ asset: metallb, annotations: { [AUTOPILOT]: text } }).kind, 'active')
  }
})

t.test('a fault of the template is a failure that names its file and line', async (t) => {
  const asset = withTemplate(`${HEADER}spec:\n  a: <%= facts.hco.spec.missing %>\n`)
  t.strictSame(standing({ asset }), {
    kind: 'failed',
    reason: 'RenderFailed',
    message: 'active/x.yaml.ejs:7: value facts.hco.spec.missing is not set',
  })
})

t.test('a template does not see how many machines there are', async (t) => {
  const asset = withTemplate(`${HEADER}spec:\n  a: <%= facts.pools.worker %>\n`)
  t.strictSame(standing({ asset }), {
    kind: 'failed',
    reason: 'RenderFailed',
    message: 'active/x.yaml.ejs:7: value facts.pools is not set',
  })
})

t.test('a template that asks for an enum nobody read fails', async (t) => {
  const failed = standing({
    asset: descheduler,
    enums: {},
    hco: { annotations: { 'enable-loadaware': 'true' } },
  })
  t.match(failed, {
    kind: 'failed',
    message: 'active/descheduler-loadaware.yaml.ejs:1: value enums.profiles is not set',
  })
})

t.test('a condition that cannot be judged is a failure, never false', async (t) => {
  const facts = { ...factsWith(), hardware: {} } as unknown as Facts
  t.strictSame(standingOf(pci, facts, readSettings({}).settings, sha256), {
    kind: 'failed',
    reason: 'RenderFailed',
    message: 'the fact pciDevicesPresent is not known',
  })
})

t.test('never throws, whatever is not known', async (t) => {
  const nothing = { ...factsWith({ served: {} }), hardware: {}, topology: {} } as unknown as Facts
  const everything = { ...nothing, served: factsWith().served }
  for (const asset of catalog) {
    for (const facts of [nothing, everything]) {
      t.doesNotThrow(() => standingOf(asset, facts, readSettings({}).settings, sha256), asset.name)
    }
  }
})

const digests = (changes: Changes) =>
  catalog.map((asset) => {
    const at = standing({ asset, ...changes })
    return at.kind === 'active' ? `${asset.name} ${at.digest}` : asset.name
  })

const FULL: Changes = {
  hco: { annotations: { 'enable-loadaware': 'true' } },
  hardware: { pciDevicesPresent: true, numaNodesPresent: true },
}

t.test('the same facts give the same digests, in whatever order they were read', async (t) => {
  const expected = digests(FULL)
  t.ok(
    expected.every((line) => line.includes(' ')),
    'every asset is active',
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

t.test('the number of nodes never changes a digest', async (t) => {
  const expected = digests(FULL)
  for (const pools of [{}, { worker: 0 }, { worker: 1_000, master: 3, infra: 7 }]) {
    t.same(digests({ ...FULL, pools }), expected, JSON.stringify(pools))
  }
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

t.test('only the HyperConverged is never created by us', async (t) => {
  const others = catalog.filter((asset) => !isCreatable(asset))
  t.same(
    others.map(({ name }) => name),
    ['hco-golden-config'],
  )
})
