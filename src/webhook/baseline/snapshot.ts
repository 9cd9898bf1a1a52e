import { AUTOPILOT } from '../../shared/baseline/annotations.ts'
import {
  type AssetStatus,
  type DecideStatuses,
  identityOn,
  statusOf,
} from '../../shared/baseline/asset-status.ts'
import {
  type Asset,
  type Catalog,
  isAlwaysDenied,
  isHyperConverged,
  isSensitive,
  kindKey,
  namespaceOf,
} from '../../shared/baseline/catalog/catalog.ts'
import type { Facts, HcoFacts } from '../../shared/baseline/facts/facts.ts'
import { annotationFacts, hcoFactsFor } from '../../shared/baseline/facts/hco-facts.ts'
import { otherBeside } from '../../shared/baseline/settings/other-autopilot.ts'
import {
  type Annotations,
  type ReadSettings,
  readSettings,
  type Settings,
  settingsInForce,
} from '../../shared/baseline/settings/settings.ts'
import type { State } from '../../shared/baseline/state.ts'
import type { SchemaDefaults } from '../../shared/cluster/schema-defaults.ts'
import { type KindQuery, type KindSchema, schemaKey } from '../../shared/cluster/schemas.ts'
import { isEqual } from '../../shared/engine/json/equal.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import type { MergeTree } from '../../shared/engine/merge/merge-tree.ts'
import { sha256 } from '../../shared/ops/digest.ts'

/** One catalog object as the webhook knows it. */
export interface ManagedObject {
  readonly asset: Asset
  readonly isHco: boolean
  readonly isSensitive: boolean
  readonly isAlwaysDenied: boolean
  readonly status: AssetStatus
  readonly tree: MergeTree | undefined
  /** What the API server puts in the place of fields that a writer left out, before we see what he wrote. */
  readonly defaults: SchemaDefaults
  /** What the schema of its kind says of values, as it is served; undefined while that is not known. */
  readonly values: unknown
  /** The leader publishes the very same baseline; where it does not, two opinions would be an edit war. */
  readonly isAgreed: boolean
  /** For a disruptive asset, the digest of the desired state in force. */
  readonly appliedDigest: string | undefined
}

/** Everything a decision needs, computed once from the published state. */
export interface Snapshot {
  readonly settings: Settings
  /** What the leader does about changes that reboot nodes, where the HyperConverged does not say. */
  readonly disruptiveChanges: Settings['disruptiveChanges']
  /** What the annotations of a HyperConverged mean, given what they meant before. */
  readonly readSettings: (annotations: Annotations) => ReadSettings
  /** Whether another autopilot is there that these annotations have active. */
  readonly wakesOther: (annotations: Annotations) => boolean
  readonly facts: Facts
  /** Without a HyperConverged nothing but that is judged: what was kept for the last one is anybody's. */
  readonly hasHyperConverged: boolean
  /** Whether some object of the kind is the catalog's, so that it matters what a review of it says. */
  readonly isKindManaged: (group: string, kind: string) => boolean
  readonly find: (
    group: string,
    kind: string,
    namespace: string | undefined,
    name: string,
  ) => ManagedObject | undefined
  readonly all: readonly ManagedObject[]
  /**
   * The HyperConverged as its own annotations have it, of which no leader knows yet; any other object as it is. What
   * a write asks for, or asks for no more, is in force with that write.
   */
  readonly asAnnotated: (managed: ManagedObject, object: KubeObject) => ManagedObject
  /** What of a HyperConverged would be facts; of one in another version than ours its annotations only. */
  readonly hcoFactsOf: (hco: KubeObject) => HcoFacts
  /** How an asset stands where these are the facts of the HyperConverged, and these its settings. */
  readonly statusWith: (managed: ManagedObject, hco: HcoFacts, settings: Settings) => AssetStatus
}

/** The schemas to load before a snapshot can be made of a state. */
export const queriesOf = (catalog: Catalog, { facts }: State): readonly KindQuery[] =>
  catalog.flatMap((asset) => {
    const identity = identityOn(asset, facts)
    return identity ? [{ ...identity, enumPointers: [], fieldPointers: [], wantsValues: true }] : []
  })

/** Makes a snapshot of the published state, rendering each baseline as the leader did. */
export function createSnapshot(
  catalog: Catalog,
  state: State,
  schemas: ReadonlyMap<string, KindSchema>,
  decide: DecideStatuses,
): Snapshot {
  const { facts } = state
  const known = { valid: state.settings, neverValid: state.neverValid }
  const settings = settingsInForce(known, state.otherAutopilot)
  const isOtherThere = state.otherAutopilot !== 'absent'
  const statuses = decide(facts, settings)
  const all = catalog.map((asset): ManagedObject => {
    const status = statuses.get(asset.name)
    if (!status) throw new Error(`asset ${asset.name} is of another catalog`)
    const identity = identityOn(asset, facts)
    const schema = identity && schemas.get(schemaKey(identity))
    return {
      asset,
      isHco: isHyperConverged(asset),
      isSensitive: isSensitive(asset),
      isAlwaysDenied: isAlwaysDenied(asset),
      status,
      tree: schema?.tree,
      defaults: schema?.defaults ?? {},
      values: schema?.values,
      isAgreed: status.kind === 'active' && state.baselines[asset.name] === status.digest,
      appliedDigest: state.applied[asset.name],
    }
  })
  const index = new Map(
    all.map((managed) => {
      const { object } = managed.asset
      const namespace = namespaceOf(managed.asset, facts.hco.namespace)
      return [keyOf(kindKey(object), namespace, object.name), managed]
    }),
  )
  const kinds = new Set(catalog.map(({ object }) => kindKey(object)))
  const statusWith: Snapshot['statusWith'] = ({ asset }, hco, settings) =>
    statusOf(asset, { ...facts, hco }, settings, sha256)
  const readHco = hcoFactsFor(catalog)
  const { disruptiveChanges: flag } = state
  return {
    settings,
    disruptiveChanges: flag === 'unknown' ? undefined : flag,
    readSettings: (annotations) =>
      readSettings(
        annotations,
        known,
        otherBeside(isOtherThere, annotations[AUTOPILOT]),
        state.activation,
      ),
    wakesOther: (annotations) => otherBeside(isOtherThere, annotations[AUTOPILOT]) === 'active',
    facts,
    hasHyperConverged: state.hasHyperConverged,
    all,
    asAnnotated(managed, { metadata }) {
      if (!managed.isHco) return managed
      const annotations = annotationFacts(metadata.annotations ?? {})
      if (isEqual(annotations, facts.hco.annotations)) return managed
      const status = statusWith(managed, { ...facts.hco, annotations }, settings)
      return isSame(status, managed.status) ? managed : { ...managed, status }
    },
    hcoFactsOf(hco) {
      const { annotations, ...rest } = readHco(hco)
      return hco.apiVersion === facts.hco.apiVersion
        ? { ...rest, annotations }
        : { ...facts.hco, annotations }
    },
    statusWith,
    isKindManaged: (group, kind) => kinds.has(kindKey({ group, kind })),
    find: (group, kind, namespace, name) =>
      index.get(keyOf(kindKey({ group, kind }), namespace, name)),
  }
}

const isSame = (a: AssetStatus, b: AssetStatus) =>
  a.kind === 'active' && b.kind === 'active' && a.digest === b.digest

const keyOf = (kind: string, namespace: string | undefined, name: string) =>
  JSON.stringify([kind, namespace || undefined, name])
