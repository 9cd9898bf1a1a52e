import { isEqual } from '../../engine/json/equal.ts'
import { MANAGED_BY, OVERRIDES, PREFIX, SETTINGS } from '../annotations.ts'
import { isHyperConverged, kindKey } from '../catalog/catalog.ts'
import type { AssetEntry, ObjectIdentity } from '../catalog/catalog-schema.ts'
import type { Entries, TitledEntry } from '../catalog/catalog-text.ts'
import type { Condition } from '../catalog/condition-schemas.ts'
import { describeCondition } from '../facts/conditions.ts'
import { BASELINE } from '../names.ts'

/** A mistake in an entry of a catalog. */
interface EntryMistake {
  /** Leads from the entry to the member at fault. */
  readonly path: readonly string[]
  /** A phrase that follows the path. */
  readonly message: string
}

/** What is wrong with the entries of all folders together, beside what the schema says: a line per mistake. */
export function entryMistakes(folders: readonly Entries[], namespace: string): readonly string[] {
  const assets = folders.flatMap((folder) => folder.assets)
  const tombstones = folders.flatMap((folder) => folder.tombstones)
  return [
    ...doubles(folders.flatMap((folder) => [...folder.assets, ...folder.tombstones])),
    ...wrongRelations(assets),
    ...assets.flatMap((titled) =>
      linesOf(titled, [
        ...wrongOrder(titled.entry),
        ...sectionNames(titled.entry),
        ...conditionMistakes(titled.entry),
        ...ownObjects(titled.entry, namespace),
      ]),
    ),
    ...tombstones.flatMap((titled) => linesOf(titled, ownObjects(titled.entry, namespace))),
  ]
}

const linesOf = <Entry>(
  { titleOf }: TitledEntry<Entry>,
  mistakes: readonly EntryMistake[],
): readonly string[] => mistakes.map(({ path, message }) => `${titleOf(path)} ${message}`)

interface Named {
  readonly name: string
  readonly object: ObjectIdentity
}

/** Entries that have a name or an object that an earlier one has. */
const doubles = (entries: readonly TitledEntry<Named>[]): readonly string[] =>
  entries.flatMap(({ entry, title }, index) => {
    const earlier = entries.slice(0, index)
    const namesake = earlier.some((other) => other.entry.name === entry.name)
    const rival = earlier.find((other) => isSameObject(other.entry.object, entry.object))
    return [
      ...(namesake ? [`${title} is not the first of this name: choose another`] : []),
      ...(rival
        ? [
            `${title} is about the same object as ${rival.entry.name}, which comes before it: take one of them away`,
          ]
        : []),
    ]
  })

// The HyperConverged's namespace may be any: what is kept there and deleted elsewhere could be one object.
const isSameObject = (a: ObjectIdentity, b: ObjectIdentity) =>
  a.group === b.group &&
  a.kind === b.kind &&
  a.name === b.name &&
  (a.namespace === b.namespace ||
    ([a.namespace, b.namespace].includes('$hco') &&
      a.namespace !== undefined &&
      b.namespace !== undefined))

/** What is wrong with whom an asset yields to, and whom it needs; phrases that follow its title. */
function wrongRelations(entries: readonly TitledEntry<AssetEntry>[]): readonly string[] {
  const named = new Map(entries.map(({ entry }) => [entry.name, entry]))
  return entries.flatMap(({ entry, title }) => {
    const { yieldsTo, needs } = entry
    const mistakes = [
      yieldsTo === undefined ? undefined : wrongRival(entry, yieldsTo, named.get(yieldsTo)),
      needs === undefined ? undefined : wrongNeed(needs, named.get(needs)),
    ]
    return mistakes.flatMap((mistake) => (mistake === undefined ? [] : [`${title} ${mistake}`]))
  })
}

/** A rival must be an asset that does not yield itself, and is not always there when this one would be. */
function wrongRival(asset: AssetEntry, name: string, rival: AssetEntry | undefined) {
  if (!rival) return `yields to ${name}, which is no asset`
  // Two that yield to each other would both wait for ever, or ask each other without end.
  if (rival.yieldsTo !== undefined) return `yields to ${name}, which yields to another itself`
  return isImplied(rival, asset)
    ? `yields to ${name}, which is active wherever this one could be: give ${name} a condition that ${asset.name} has not, or take ${asset.name} away`
    : undefined
}

/** One that is needed must be an asset that needs no other: who needs whom could then go round in a circle. */
function wrongNeed(name: string, needed: AssetEntry | undefined) {
  if (!needed) return `needs ${name}, which is no asset`
  return needed.needs === undefined && needed.yieldsTo === undefined
    ? undefined
    : `needs ${name}, which needs another itself, or yields to one: name that`
}

/** Whether the asset states all that the rival needs. */
const isImplied = (rival: AssetEntry, asset: AssetEntry) =>
  needsOf(rival).every((need) => needsOf(asset).some((given) => isEqual(given, need)))

/** An asset is looked at only where its own kind is served. */
const needsOf = ({ object: { group, kind, versions }, conditions }: AssetEntry) => [
  { type: 'crd', group, kind, versions },
  ...conditions,
]

/** An order that is not what the HyperConverged must have, and nothing else may: the facts are read from it. */
function wrongOrder(asset: AssetEntry): readonly EntryMistake[] {
  const isSource = isHyperConverged(asset)
  if (isSource === (asset.order === 0)) return []
  const message = isSource
    ? 'must be 0: the HyperConverged comes first, since facts are read from it'
    : 'is 0, which the HyperConverged has alone: write a greater number'
  return [{ path: ['order'], message }]
}

/** Sections of one name, of which the template could only ask for the last. */
const sectionNames = ({ sections }: AssetEntry): readonly EntryMistake[] =>
  sections.flatMap(({ name }, index) => {
    if (sections.findIndex((other) => other.name === name) === index) return []
    const path = ['sections', String(index), 'name']
    return [{ path, message: `is "${name}" a second time: choose another` }]
  })

interface Stated {
  readonly condition: Condition
  readonly path: readonly string[]
}

const statedIn = (
  { conditions }: Pick<AssetEntry, 'conditions'>,
  place: readonly string[],
): readonly Stated[] =>
  conditions.map((condition, index) => ({
    condition,
    path: [...place, 'conditions', String(index)],
  }))

function conditionMistakes(asset: AssetEntry): readonly EntryMistake[] {
  const own = statedIn(asset, [])
  const ofSections = asset.sections.map((one, index) => statedIn(one, ['sections', String(index)]))
  return [
    ...[...own, ...ofSections.flat()].flatMap(reservedAnnotation),
    ...contradictions(own, []),
    ...ofSections.flatMap((stated) => contradictions(stated, own)),
  ]
}

/** Conditions of which another says the opposite: the asset or the section would never apply. */
const contradictions = (stated: readonly Stated[], given: readonly Stated[]) =>
  stated.flatMap(({ condition, path }, index): readonly EntryMistake[] => {
    const rival = [...given, ...stated.slice(0, index)].find(
      (other) => isOpposite(condition, other.condition) || areTwoValues(condition, other.condition),
    )
    if (!rival) return []
    const [mine, its] = [condition, rival.condition].map(describeCondition)
    const message = `never holds together with /${rival.path.join('/')}: "${mine}" against "${its}"; take one of them away`
    return [{ path, message }]
  })

const isOpposite = (
  { not: mine = false, ...condition }: Condition,
  { not: its = false, ...other }: Condition,
) => mine !== its && isEqual(condition, other)

/** One fact of the topology that is to have two values. */
const areTwoValues = (mine: Condition, its: Condition) =>
  mine.type === 'topology' &&
  its.type === 'topology' &&
  mine.field === its.field &&
  !mine.not &&
  !its.not &&
  (mine.value ?? true) !== (its.value ?? true)

/** A condition on an annotation that means something else already. */
const reservedAnnotation = ({ condition, path }: Stated): readonly EntryMistake[] =>
  condition.type === 'annotation' && RESERVED.has(`${PREFIX}${condition.key}`)
    ? [
        {
          path: [...path, 'key'],
          message: `is "${condition.key}", which has a meaning of its own: choose another name`,
        },
      ]
    : []

const RESERVED: ReadonlySet<string> = new Set([...OVERRIDES, ...SETTINGS, MANAGED_BY])

/** Objects that the product itself writes or runs on: two opinions of these would be a war with ourselves. */
const ownObjects = (
  { object }: { readonly object: ObjectIdentity },
  namespace: string,
): readonly EntryMistake[] =>
  OWN_OBJECTS[kindKey(object)]?.includes(object.name) &&
  (object.namespace === undefined || object.namespace === namespace)
    ? [{ path: ['object'], message: 'is the product’s own, which it keeps itself: take it away' }]
    : []

const ROLES = [BASELINE.reconcilerRole, BASELINE.webhookAccount]

const OWN_OBJECTS: Readonly<Record<string, readonly string[]>> = {
  '/ConfigMap': [BASELINE.stateConfigMap],
  '/Secret': [BASELINE.authoritySecret, BASELINE.servingSecret],
  '/ServiceAccount': [BASELINE.reconcilerAccount, BASELINE.webhookAccount],
  'coordination.k8s.io/Lease': [BASELINE.lease],
  'rbac.authorization.k8s.io/Role': ROLES,
  'rbac.authorization.k8s.io/RoleBinding': ROLES,
  'rbac.authorization.k8s.io/ClusterRole': ROLES,
  'rbac.authorization.k8s.io/ClusterRoleBinding': ROLES,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': [BASELINE.webhookConfiguration],
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': [BASELINE.webhookConfiguration],
}
