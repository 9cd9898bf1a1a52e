import { createHash } from 'node:crypto'
import t from 'tap'
import { statusOf } from '../../../../src/shared/baseline/asset-status.ts'
import { answerKey } from '../../../../src/shared/baseline/facts/facts.ts'
import { readSettings } from '../../../../src/shared/baseline/settings/settings.ts'
import type { Schema } from '../../../../src/shared/engine/merge/tree-of.ts'
import { schemasOf } from '../../../../tools/generate/schemas-file.ts'
import { assetNamed, type Changes, catalog, everythingServed, factsWith } from '../facts.ts'
import { type Crd, crdOf, faultsOf } from './definitions.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const asset = assetNamed('descheduler-loadaware')
const { group, kind } = asset.object

interface SpecSchema {
  readonly evictionLimits?: { readonly properties: Record<string, unknown> }
  readonly profileCustomizations: { readonly properties: Record<string, unknown> }
  readonly profiles: { readonly items: { readonly enum: readonly string[] } }
}

interface Descheduler extends Crd {
  readonly spec: Crd['spec'] & {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: { readonly properties: { spec: { properties: SpecSchema } } }
      }
    }[]
  }
}

const newest = crdOf(group, kind) as Descheduler

/** The definition of an operator that lacks profiles and fields which the newest has. */
function olderThan(crd: Descheduler, profiles: readonly string[], ...fields: readonly string[]) {
  const older = structuredClone(crd)
  for (const { schema } of older.spec.versions) {
    const { properties } = schema.openAPIV3Schema.properties.spec
    const { items } = properties.profiles
    Object.assign(items, { enum: items.enum.filter((name) => !profiles.includes(name)) })
    for (const field of fields) remove(properties, field.split('/'))
  }
  return older
}

function remove(properties: object, [name = '', ...rest]: readonly string[]): void {
  const found: { properties?: object } | undefined = Reflect.get(properties, name)
  if (!found) throw new Error(`the newest definition has no ${name}: the test is out of date`)
  if (rest.length === 0) Reflect.deleteProperty(properties, name)
  else remove(found.properties ?? {}, rest)
}

/** What the facts of a cluster with that definition say of it, read as the product reads it. */
function offeredBy({ spec }: Crd): Required<Pick<Changes, 'enums' | 'fields'>> {
  const versions = spec.versions.map(({ name, schema }) => ({
    name,
    schema: schema.openAPIV3Schema as Schema,
  }))
  const [[, read] = []] = schemasOf(catalog, { group, kind, versions })
  if (!read) throw new Error('the definition cannot be read')
  const keyed = <Answer>(answers: Readonly<Record<string, Answer>>) =>
    Object.fromEntries(
      Object.entries(answers).map(([pointer, answer]) => [
        answerKey(asset.object, pointer),
        answer,
      ]),
    )
  return { enums: keyed(read.enums), fields: keyed(read.fields) }
}

const standingOn = (crd: Crd, changes: Changes = {}) => {
  const hco = { annotations: { 'enable-loadaware': 'true' }, ...changes.hco }
  const facts = factsWith({ ...changes, ...offeredBy(crd), hco })
  return statusOf(asset, facts, readSettings({}).settings, sha256)
}

const BACKGROUND = 'profileCustomizations/devEnableEvictionsInBackground'
const UTILIZATION = 'profileCustomizations/devActualUtilizationProfile'
const NEW = 'KubeVirtRelieveAndMigrate'
const DEV = 'DevKubeVirtRelieveAndMigrate'
const OLD = 'LongLifecycle'

const times: readonly (readonly [when: string, crd: Crd, spec: object])[] = [
  ['today', newest, { profiles: [NEW], evictionLimits: { total: 5, node: 1 } }],
  [
    'before the profile for VMs was stable',
    olderThan(newest, [NEW]),
    { profiles: [DEV], evictionLimits: { total: 5, node: 1 } },
  ],
  [
    'before it had a limit of a node',
    olderThan(newest, [NEW], 'evictionLimits/node'),
    {
      profiles: [DEV],
      profileCustomizations: { devActualUtilizationProfile: 'PrometheusCPUCombined' },
      evictionLimits: { total: 5 },
    },
  ],
  [
    'before it could look at load',
    olderThan(newest, [NEW], 'evictionLimits/node', UTILIZATION),
    { profiles: [DEV], evictionLimits: { total: 5 } },
  ],
  [
    'before it had a profile for VMs',
    olderThan(newest, [NEW, DEV], 'evictionLimits/node'),
    {
      profiles: [OLD],
      profileCustomizations: { devEnableEvictionsInBackground: true },
      evictionLimits: { total: 5 },
    },
  ],
  [
    'before it had limits, or evictions in the background',
    olderThan(newest, [NEW, DEV], 'evictionLimits', BACKGROUND),
    { profiles: [OLD] },
  ],
]

for (const [when, crd, spec] of times) {
  t.test(`the descheduler as it was ${when} gets what it admits`, async (t) => {
    const status = standingOn(crd)
    if (status.kind !== 'active') throw new Error(JSON.stringify(status))
    t.strictSame(status.baseline.spec, {
      managementState: 'Managed',
      mode: 'Automatic',
      deschedulingIntervalSeconds: 60,
      ...spec,
    })
    t.same(faultsOf(status.baseline, crd), [])
  })
}

t.test('the definition of an older operator refuses what the newest is given', async (t) => {
  const status = standingOn(newest)
  if (status.kind !== 'active') throw new Error(JSON.stringify(status))
  const [, , [, crd] = []] = times
  t.match(faultsOf(status.baseline, crd), [
    /evictionLimits must NOT have additional properties .*"node"/,
    /profiles\/0 must be equal to one of/,
  ])
})

t.test('no profile looks at pressure that nodes do not tell', async (t) => {
  const status = standingOn(newest, { topology: { pressureInformation: false } })
  if (status.kind !== 'active') throw new Error(JSON.stringify(status))
  t.match(status.baseline.spec, {
    profiles: [OLD],
    // It spares VMs, and would evict everybody's other pods.
    mode: 'Predictive',
    profileCustomizations: { devEnableEvictionsInBackground: true },
  })
  t.same(faultsOf(status.baseline, newest), [])
})

t.test('a descheduler without a profile for VMs gets nothing', async (t) => {
  t.match(standingOn(olderThan(newest, [NEW, DEV, OLD])), {
    kind: 'inactive',
    reason: 'NotApplicable',
  })
})

const HCO = 'hco.kubevirt.io/HyperConverged'
const liveMigrationConfig = {
  parallelMigrationsPerCluster: 9,
  parallelOutboundMigrationsPerNode: 3,
}

for (const [version, spec] of [
  ['v1', { virtualization: { liveMigrationConfig } }],
  ['v1beta1', { liveMigrationConfig }],
] as const) {
  t.test(
    `the descheduler evicts no faster than a HyperConverged ${version} migrates`,
    async (t) => {
      const served = { ...everythingServed, [HCO]: [version] }
      const annotations = { 'enable-loadaware': 'true' }
      const status = standingOn(newest, { served, hco: { annotations, spec } })
      t.match(status, { baseline: { spec: { evictionLimits: { total: 9, node: 3 } } } })
    },
  )
}
