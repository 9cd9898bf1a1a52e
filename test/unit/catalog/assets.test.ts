import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import t from 'tap'
import { parse } from 'yaml'
import { apiVersionOf } from '../../../src/shared/catalog/catalog.ts'
import { readSettings } from '../../../src/shared/catalog/settings.ts'
import { standingOf } from '../../../src/shared/catalog/standing.ts'
import { isMap, type KubeObject } from '../../../src/shared/engine/object.ts'
import { assetNamed, type Changes, catalog, everythingServed, factsWith } from './facts.ts'

interface Crd {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: { readonly properties: object } }
    }[]
  }
}

const CRDS = new URL('../../crds/', import.meta.url)
const crds = readdirSync(CRDS, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.includes('/') && path.endsWith('.yaml'))
  .map((path) => parse(readFileSync(new URL(path, CRDS), 'utf8')) as Crd)

const crdOf = (wantedGroup: string, wantedKind: string): Crd => {
  const crd = crds.find(
    ({ spec: { group, names } }) => group === wantedGroup && names.kind === wantedKind,
  )
  if (!crd) throw new Error(`test/crds has no ${wantedKind}.${wantedGroup}`)
  return crd
}

/** The schema with every map closed whose members it lists, as the API server's strict validation has it. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isMap(schema)) return schema
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, closed(member)]),
  )
  const isOpen =
    'additionalProperties' in schema || schema['x-kubernetes-preserve-unknown-fields'] === true
  return isMap(schema.properties) && schema.type === 'object' && !isOpen
    ? { ...members, additionalProperties: false }
    : members
}

const ajv = new Ajv({
  strict: false,
  allErrors: true,
  validateFormats: false,
  unicodeRegExp: false,
})

const faultsOf = (object: KubeObject): readonly string[] => {
  const [group = '', version = ''] = object.apiVersion.split('/')
  const found = crdOf(group, object.kind).spec.versions.find(({ name }) => name === version)
  if (!found) return [`${object.kind} has no version ${version}`]
  const { properties } = found.schema.openAPIV3Schema
  const schema = closed({
    type: 'object',
    required: ['spec'],
    properties: { ...properties, metadata: {} },
  })
  const validate = ajv.compile(schema as object)
  validate(object)
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const rendered = (name: string, changes: Changes) =>
  standingOf(assetNamed(name), factsWith(changes), readSettings({}).settings, sha256)
const objectOf = (name: string, changes: Changes): KubeObject => {
  const standing = rendered(name, changes)
  if (standing.kind !== 'active') throw new Error(`${name}: ${standing.message}`)
  return standing.baseline
}

t.test('the check refuses what the API server would refuse', async (t) => {
  const object = objectOf('metallb', {})
  t.same(faultsOf({ ...object, spec: { colour: 'red' } }), [
    '/spec must NOT have additional properties {"additionalProperty":"colour"}',
  ])
  t.same(faultsOf({ ...object, spec: { logLevel: 7 } }).slice(0, 1), [
    '/spec/logLevel must be string {"type":"string"}',
  ])
  t.same(faultsOf({ ...object, apiVersion: 'metallb.io/v9' }), ['MetalLB has no version v9'])
})

for (const { name, object } of catalog) {
  t.test(`${name} yields a kind as its CRD has it`, async (t) => {
    const { spec } = crdOf(object.group, object.kind)
    t.equal(spec.names.plural, object.resource)
    t.equal(spec.scope, object.namespace === undefined ? 'Cluster' : 'Namespaced')
    const versions = spec.versions.map((version) => version.name)
    t.same(
      object.versions.filter((version) => !versions.includes(version)),
      [],
    )
  })
}

const HCO = 'hco.kubevirt.io/HyperConverged'
const v1 = { ...everythingServed, [HCO]: ['v1', 'v1beta1'] }
const v1beta1 = { ...everythingServed, [HCO]: ['v1beta1'] }
const OPT_IN = { 'enable-loadaware': 'true' }
const PROFILES = [
  'KubeVirtRelieveAndMigrate',
  'DevKubeVirtRelieveAndMigrate',
  'LongLifecycle',
  'AffinityAndTaints',
]
const profiles = (...known: readonly string[]) => ({ 'descheduler-loadaware': { profiles: known } })
const hardware = { pciDevicesPresent: true }

const situations: readonly (readonly [what: string, Changes])[] = [
  ['HyperConverged v1', { served: v1, hardware, hco: { annotations: OPT_IN } }],
  ['HyperConverged v1beta1', { served: v1beta1, hardware, hco: { annotations: OPT_IN } }],
  [
    'NUMA nodes',
    { hardware: { ...hardware, numaNodesPresent: true }, hco: { annotations: OPT_IN } },
  ],
  ['AMD nodes', { hardware: { ...hardware, amdNodesPresent: true }, hco: { annotations: OPT_IN } }],
  [
    'migration limits of v1',
    {
      hardware,
      hco: {
        annotations: OPT_IN,
        spec: {
          virtualization: {
            liveMigrationConfig: {
              parallelMigrationsPerCluster: 9,
              parallelOutboundMigrationsPerNode: 3,
            },
          },
        },
      },
    },
  ],
]

for (const [what, changes] of situations) {
  for (const { name } of catalog) {
    t.test(`${name} is what its CRD admits on a cluster with ${what}`, async (t) => {
      t.same(faultsOf(objectOf(name, changes)), [])
    })
  }
}

t.test('the HyperConverged has its fields where its version has them', async (t) => {
  const liveMigrationConfig = {
    allowAutoConverge: false,
    allowPostCopy: false,
    completionTimeoutPerGiB: 150,
    progressTimeout: 150,
  }
  const uninstallStrategy = 'BlockUninstallIfWorkloadsExist'
  t.match(objectOf('hco-golden-config', { served: v1 }), {
    apiVersion: apiVersionOf('hco.kubevirt.io', 'v1'),
    spec: { deployment: { uninstallStrategy }, virtualization: { liveMigrationConfig } },
  })
  t.strictSame(objectOf('hco-golden-config', { served: v1beta1 }).spec, {
    uninstallStrategy,
    liveMigrationConfig,
  })
})

t.test('the IOMMU of AMD is turned on only where there is one', async (t) => {
  const args = (amdNodesPresent: boolean) =>
    objectOf('pci-passthrough', { hardware: { ...hardware, amdNodesPresent } }).spec
  t.strictSame(args(false), { kernelArguments: ['intel_iommu=on', 'iommu=pt'] })
  t.strictSame(args(true), { kernelArguments: ['intel_iommu=on', 'iommu=pt', 'amd_iommu=on'] })
})

t.test('the topology manager is set only where there are NUMA nodes', async (t) => {
  const kubelet = (numaNodesPresent: boolean) => {
    const { spec } = objectOf('kubelet-perf-settings', { hardware: { numaNodesPresent } })
    return isMap(spec) && spec.kubeletConfig
  }
  const perf = { nodeStatusMaxImages: -1, maxPods: 500 }
  t.strictSame(kubelet(false), perf)
  t.strictSame(kubelet(true), { ...perf, topologyManagerPolicy: 'best-effort' })
})

const descheduled: readonly (readonly [known: readonly string[], profile: string])[] = [
  [PROFILES, 'KubeVirtRelieveAndMigrate'],
  [PROFILES.slice(1), 'DevKubeVirtRelieveAndMigrate'],
  [PROFILES.slice(2), 'LongLifecycle'],
]

for (const [known, profile] of descheduled) {
  t.test(`the descheduler that knows ${known.join(', ')} gets ${profile}`, async (t) => {
    const object = objectOf('descheduler-loadaware', {
      hco: { annotations: OPT_IN },
      enums: profiles(...known),
    })
    t.strictSame(object.spec, {
      managementState: 'Managed',
      mode: 'Automatic',
      deschedulingIntervalSeconds: 60,
      profiles: [profile],
      ...(profile === 'LongLifecycle' && {
        profileCustomizations: { devEnableEvictionsInBackground: true },
      }),
      evictionLimits: { total: 5, node: 2 },
    })
    const faults = faultsOf(object).filter(
      (fault) => !fault.startsWith('/spec/profiles/0 must be equal to one of'),
    )
    t.same(faults, [], 'its CRD in the tests knows only some of the profiles')
  })
}

t.test('a descheduler without a profile for VMs gets nothing', async (t) => {
  const standing = rendered('descheduler-loadaware', {
    hco: { annotations: OPT_IN },
    enums: profiles('AffinityAndTaints'),
  })
  t.match(standing, { kind: 'inactive', reason: 'NotApplicable' })
})

const limits: readonly (readonly [what: string, served: Changes['served'], spec: object])[] = [
  [
    'v1',
    v1,
    {
      virtualization: {
        liveMigrationConfig: {
          parallelMigrationsPerCluster: 9,
          parallelOutboundMigrationsPerNode: 3,
        },
      },
    },
  ],
  [
    'v1beta1',
    v1beta1,
    {
      liveMigrationConfig: {
        parallelMigrationsPerCluster: 9,
        parallelOutboundMigrationsPerNode: 3,
      },
    },
  ],
]

for (const [version, served, spec] of limits) {
  t.test(
    `the descheduler evicts no faster than a HyperConverged ${version} migrates`,
    async (t) => {
      const object = objectOf('descheduler-loadaware', {
        ...(served && { served }),
        hco: { annotations: OPT_IN, spec: { ...spec } },
      })
      t.match(object.spec, { evictionLimits: { total: 9, node: 3 } })
    },
  )
}

t.test(
  'what rolls nodes waits on a hosted control plane, and the kubelet on a foreign setting',
  async (t) => {
    const hosted: Changes = { hardware, topology: { hostedControlPlane: true } }
    for (const name of ['swap-enable', 'pci-passthrough', 'kubelet-perf-settings']) {
      t.match(rendered(name, hosted), { kind: 'inactive', reason: 'ConditionFalse' }, name)
    }
    const foreign = rendered('kubelet-perf-settings', { topology: { foreignKubeletConfig: true } })
    t.match(foreign, { kind: 'inactive', reason: 'ConditionFalse' })
  },
)
