import t from 'tap'
import {
  AUTOPILOT,
  IGNORE_FIELDS,
  MODE,
  PATCH,
  PREFIX,
} from '../../../../src/shared/baseline/annotations.ts'
import { factsWith } from '../../baseline/facts.ts'
import {
  baselineOf,
  type Edit,
  edited,
  facts,
  handlersWith,
  requestFor,
  snapshotOf,
} from '../known.ts'

const OLDER = 'hco.kubevirt.io/v1beta1'
const known = (apiVersion: string, annotations: Readonly<Record<string, string>>) =>
  snapshotOf({
    facts: factsWith({
      ...facts,
      hco: { ...facts.hco, apiVersion, annotations },
      served: {
        ...facts.served,
        'hco.kubevirt.io/HyperConverged': [apiVersion === OLDER ? 'v1beta1' : 'v1'],
      },
    }),
  })
const ASKED = { [`${PREFIX}enable-aaq`]: 'true' }
const FIELD = '/spec/enableApplicationAwareQuota'
const HCO = 'HyperConverged openshift-cnv/kubevirt-hyperconverged'
const GOES = `${HCO}: its operator deletes its AAQ for this, and every quota with it: each ApplicationAwareResourceQuota and ApplicationAwareClusterResourceQuota`
const keep = (fields: string) =>
  `To keep them, before you do this (--dry-run=server tries it out): kubectl annotate hyperconverged -n openshift-cnv kubevirt-hyperconverged --overwrite ${IGNORE_FIELDS}=${fields}`

interface Case {
  readonly says: string
  readonly apiVersion?: string
  readonly before?: Edit
  readonly edit: Edit
  readonly told: readonly string[]
}

const cases: readonly Case[] = [
  { says: 'takes the annotation away', edit: { annotations: {} }, told: [GOES, keep(FIELD)] },
  {
    says: 'sets it to off',
    edit: { annotations: { [`${PREFIX}enable-aaq`]: 'false' } },
    told: [GOES, keep(FIELD)],
  },
  {
    says: 'takes it away in the version that has the field elsewhere',
    apiVersion: 'hco.kubevirt.io/v1',
    edit: { annotations: {} },
    told: [GOES, keep('/spec/deployment/applicationAwareConfig/enable')],
  },
  {
    says: 'takes it away where other fields are ignored',
    before: { annotations: { ...ASKED, [IGNORE_FIELDS]: '/spec/uninstallStrategy' } },
    edit: { annotations: { [IGNORE_FIELDS]: '/spec/uninstallStrategy' } },
    told: [GOES, keep(`/spec/uninstallStrategy,${FIELD}`)],
  },
  {
    says: 'takes it away, and does something else that is corrected',
    edit: {
      annotations: {},
      spec: (spec) => {
        Object.assign(spec, { uninstallStrategy: 'RemoveWorkloads' })
      },
    },
    told: [GOES, keep(FIELD)],
  },
  {
    says: 'takes it away and the field over',
    edit: { annotations: { [IGNORE_FIELDS]: FIELD } },
    told: [],
  },
  {
    says: 'takes it away where the field was taken over before',
    before: { annotations: { ...ASKED, [IGNORE_FIELDS]: FIELD } },
    edit: { annotations: { [IGNORE_FIELDS]: FIELD } },
    told: [],
  },
  {
    says: 'takes it away where a patch says the same',
    edit: {
      annotations: { [PATCH]: `[{"op":"add","path":"${FIELD}","value":true}]` },
    },
    told: [],
  },
  {
    says: 'takes it away and the object out of management',
    edit: { annotations: { [MODE]: 'unmanaged' } },
    told: [],
  },
  {
    says: 'takes it away and switches all off',
    edit: { annotations: { [AUTOPILOT]: 'false' } },
    told: [],
  },
  {
    says: 'takes it away and has the HyperConverged not kept any more',
    edit: { annotations: { [AUTOPILOT]: 'metallb' } },
    told: [],
  },
  { says: 'leaves it', edit: { annotations: ASKED, labels: { a: 'b' } }, told: [] },
  {
    says: 'never asked for quotas',
    before: { annotations: {} },
    edit: { annotations: { [`${PREFIX}enable-loadaware`]: 'true' } },
    told: [],
  },
]

for (const { says, apiVersion = OLDER, before, edit, told } of cases) {
  t.test(
    `${told.length > 0 ? 'tells that quotas go' : 'keeps silent'} where a write ${says}`,
    async (t) => {
      const snapshot = known(apiVersion, { 'enable-aaq': 'true' })
      const hco = baselineOf('hco-golden-config', snapshot)
      const oldObject = edited(hco, before ?? { annotations: ASKED })
      const { allowed, warnings = [] } = handlersWith(snapshot).mutate(
        requestFor('UPDATE', { object: edited(hco, edit), oldObject }),
      )
      t.ok(allowed)
      t.strictSame(
        warnings.filter((text) => /every quota|^To keep them/.test(text)),
        told,
      )
    },
  )
}
