import { cut } from '../../engine/format-value.ts'
import { isEqual } from '../../engine/json/equal.ts'
import { isMap, type JsonMap } from '../../engine/json/object.ts'
import { type Difference, differencesOf, membersOf, type Verb, verbOf } from './differences.ts'
import type { Effect, PolicyLookup } from './disruption-policies.ts'

/** One thing that changes, as a person says it, and what that does to the nodes. */
export interface Change {
  readonly effect: Effect
  readonly reason: string
}

/** A change that drains or reboots nodes. */
export const reboots = (reason: string): Change => ({ effect: 'reboot', reason })

/** What changes between two specs of a MachineConfig, of which either may be absent; a field that is not known reboots. */
export const specChanges = (before: unknown, after: unknown, policies: PolicyLookup) =>
  changesAt({ pointer: '/spec', before, after }, policies)

type Compare = (place: Difference, policies: PolicyLookup) => readonly Change[]

const changesAt: Compare = (place, policies) => {
  const compare = COMPARED.get(place.pointer) ?? (PARENTS.has(place.pointer) ? byMember : asUnknown)
  return compare(place, policies)
}

const asUnknown: Compare = ({ pointer, before, after }) =>
  differencesOf(before, after, pointer).map(reboots)

/** Absent is as good as empty here: then what is in the other is named, file by file. */
const byMember: Compare = (place, policies) => {
  const { before, after } = place
  const members = membersOf({ ...place, before: before ?? {}, after: after ?? {} })
  return members?.flatMap((member) => changesAt(member, policies)) ?? asUnknown(place, policies)
}

/** A field that means the same when it is absent, null or one of its defaults. */
const setting =
  (...defaults: readonly unknown[]): Compare =>
  ({ pointer, before, after }, policies) => {
    const stated = (value: unknown) =>
      value === null || defaults.includes(value) ? undefined : value
    return asUnknown({ pointer, before: stated(before), after: stated(after) }, policies)
  }

/** A list of words, whose order counts. */
const words =
  (what: string): Compare =>
  (place, policies) => {
    const [old, now] = [wordsOf(place.before), wordsOf(place.after)]
    if (!old || !now) return asUnknown(place, policies)
    if (isEqual(old, now)) return []
    const named = (verb: Verb) => (word: string) => `${what} ${shown(word)} ${verb}`
    const reasons = [
      ...withoutThose(now, old).map(named('added')),
      ...withoutThose(old, now).map(named('removed')),
    ]
    return (reasons.length > 0 ? reasons : [`${what}s reordered`]).map(reboots)
  }

const wordsOf = (value: unknown): readonly string[] | undefined => {
  const list = value ?? []
  return Array.isArray(list) && list.every((word) => typeof word === 'string') ? list : undefined
}

/** The words that are left when each of the others has taken one away. */
function withoutThose(list: readonly string[], others: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const word of others) counts.set(word, (counts.get(word) ?? 0) + 1)
  return list.filter((word) => {
    const left = counts.get(word) ?? 0
    counts.set(word, left - 1)
    return left <= 0
  })
}

/** As much of a name as a person reads. */
const shown = (name: string) => cut(name, 256)

type Describe = (
  name: string,
  before: JsonMap | undefined,
  after: JsonMap | undefined,
  policies: PolicyLookup,
) => Change

/** A list of items with a name, whose order does not count. */
const items =
  (key: string, describe: Describe): Compare =>
  (place, policies) => {
    const [old, now] = [itemsBy(key, place.before), itemsBy(key, place.after)]
    if (!old || !now) return asUnknown(place, policies)
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
      const [was, is] = [old.get(name), now.get(name)]
      return isEqual(was, is) ? [] : [describe(name, was, is, policies)]
    })
  }

/** The items by their names; undefined for what is no list of items, each with a name of its own. */
function itemsBy(key: string, value: unknown): ReadonlyMap<string, JsonMap> | undefined {
  const found = new Map<string, JsonMap>()
  const list = value ?? []
  if (!Array.isArray(list)) return undefined
  for (const item of list) {
    const name = isMap(item) ? item[key] : undefined
    if (typeof name !== 'string' || found.has(name)) return undefined
    found.set(name, item)
  }
  return found
}

const describeFile: Describe = (path, before, after, policies) => ({
  effect: policies.ofFile(path),
  reason: `file ${shown(path)} ${verbOf(before, after)}`,
})

const describeUnit: Describe = (name, before, after, policies) => ({
  effect: policies.ofUnit(name),
  reason: `unit ${shown(name)} ${verbOf(before, after)}`,
})

/** The only thing about users that the operator changes on a node that exists is the keys of this one. */
const KEY_USER = 'core'

const describeUser: Describe = (name, before, after, policies) => {
  const [old, now] = [before ?? { name }, after ?? { name }].map(withoutKeys)
  return name === KEY_USER && isEqual(old, now)
    ? { effect: policies.ofSshKeys, reason: `SSH keys of user ${name} changed` }
    : reboots(`user ${shown(name)} ${verbOf(before, after)}`)
}

const withoutKeys = ({ sshAuthorizedKeys, ...rest }: JsonMap): JsonMap => rest

/** The operator translates whatever version a part is written in, so that the version alone is no change to a node. */
const ignitionVersion: Compare = (place, policies) => {
  const { before, after } = place
  const isTranslated = [before, after].every(
    (version) => version === undefined || (typeof version === 'string' && /^3\./.test(version)),
  )
  const changes = asUnknown(place, policies)
  if (!isTranslated) return changes
  return before === undefined || after === undefined
    ? []
    : changes.map(({ reason }) => ({ effect: 'none', reason }))
}

const COMPARED: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['/spec/kernelArguments', words('kernel argument')],
  ['/spec/extensions', words('extension')],
  ['/spec/fips', setting(false)],
  ['/spec/kernelType', setting('', 'default')],
  ['/spec/osImageURL', setting('')],
  ['/spec/baseOSExtensionsContainerImage', setting('')],
  ['/spec/config/ignition/version', ignitionVersion],
  ['/spec/config/storage/files', items('path', describeFile)],
  ['/spec/config/systemd/units', items('name', describeUnit)],
  ['/spec/config/passwd/users', items('name', describeUser)],
])

/** The pointers above those that are compared. */
const PARENTS: ReadonlySet<string> = new Set(
  [...COMPARED.keys()].flatMap((pointer) => {
    const names = pointer.split('/')
    return names.map((_, end) => names.slice(0, end).join('/'))
  }),
)
