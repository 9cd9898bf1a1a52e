import type { ApprovalPolicy } from '../../../../src/reconciler/baseline/decide/approval.ts'
import type { AssetInput } from '../../../../src/reconciler/baseline/decide/decision.ts'
import { FIELD_MANAGER, MANAGED_BY, PREFIX } from '../../../../src/shared/baseline/annotations.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { fieldsOf } from '../../../../src/shared/engine/merge/ownership.ts'
import { assetNamed } from '../../baseline/facts.ts'
import { objectWith, tree } from '../../engine/merge/schemas.ts'

export const asset = assetNamed('metallb')
/** An asset whose change can reboot nodes. */
export const disruptive = {
  ...assetNamed('metallb'),
  disruption: 'reboot',
  pool: 'worker',
} as const

const labels = { [MANAGED_BY]: FIELD_MANAGER }

/** What the asset renders to. */
export const baseline = objectWith({ text: 'a' }, { labels })

/** The plan of an object that nobody overrides. */
export const plan = {
  kind: 'enforce',
  desired: baseline,
  released: [],
  isPatched: false,
  remarks: [],
} as const

/** How an object is stored that differs from what we applied. */
export interface Stored {
  readonly spec?: object
  readonly metadata?: Partial<KubeObject['metadata']>
  /** Override annotations, without their prefix. */
  readonly annotations?: Readonly<Record<string, string>>
  /** The spec whose fields we own; with `null` none of it. */
  readonly owned?: object | null
}

/** The object as it is stored after an apply of the baseline, but for what is given. */
export const storedWith = ({ spec, metadata, annotations, owned }: Stored = {}): KubeObject => {
  const { spec: _spec, ...bare } = baseline
  const ours = owned === null ? bare : objectWith(owned ?? { text: 'a' }, { labels })
  return objectWith(spec ?? { text: 'a' }, {
    labels,
    uid: 'u',
    resourceVersion: '7',
    managedFields: [{ manager: FIELD_MANAGER, operation: 'Apply', fieldsV1: fieldsOf(tree, ours) }],
    ...(annotations && {
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [`${PREFIX}${key}`, value]),
      ),
    }),
    ...metadata,
  })
}

export const approval: ApprovalPolicy = {
  mode: 'hold',
  isWaived: false,
  pools: [],
  inForce: undefined,
  approved: undefined,
}

/** An active asset whose object is in sync, but for what is given. */
export const inputWith = (changes: Partial<AssetInput> = {}): AssetInput => ({
  asset,
  status: { kind: 'active', baseline, digest: 'd' },
  live: storedWith(),
  isRead: false,
  hasReleased: false,
  dryRun: undefined,
  tree,
  isOff: false,
  isObserving: false,
  isNamespaceMissing: false,
  isRivalThere: false,
  missingNeed: undefined,
  nodePolicies: undefined,
  approval,
  memory: {},
  healLimits: { capacity: 1, windowMs: 10_000 },
  resyncs: 0,
  now: Date.parse('2026-01-01T00:01:00Z'),
  uptime: 0,
  ...changes,
})
