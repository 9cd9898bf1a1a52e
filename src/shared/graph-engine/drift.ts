import { canonicalJson } from '../engine/json/canonical.ts'
import { parseJson } from '../engine/json/json.ts'
import { isMap, type JsonMap, type KubeObject, memberOf } from '../engine/json/object.ts'
import { formatPointer } from '../engine/json/pointer.ts'

/**
 * The fields of an applied object that are no longer the manager's, as JSON pointers; empty where nothing drifted. A field stays
 * with its manager until somebody else changes or removes it, so that values need no look: the server writes
 * some of them otherwise than they were sent (`1000m` as `1`), fills in defaults, and knows the keys of lists, all
 * of which would be taken for drift. Another who forces the same values takes those that the server wrote otherwise: one more apply
 * has them back. `desired` must be what was applied last.
 */
export function lostFields(desired: KubeObject, live: KubeObject, manager: string): string[] {
  const { apiVersion: _version, kind: _kind, metadata, ...content } = desired
  const { name: _name, namespace: _namespace, ...marks } = metadata
  const fields = appliedFields(live, manager)
  if (!fields) return ['']
  const lost: string[] = []
  collectLost({ ...content, metadata: marks }, fields, [], lost)
  return lost
}

const appliedFields = ({ metadata: { managedFields = [] } }: KubeObject, manager: string) =>
  managedFields.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource,
  )?.fieldsV1

type Path = readonly string[]

function collectLost(desired: unknown, fields: JsonMap, path: Path, lost: string[]) {
  // An entry without members stands for all that is beneath it.
  if (Object.keys(fields).length === 0) return
  if (Array.isArray(desired)) collectLostItems(desired, fields, path, lost)
  else if (isMap(desired)) collectLostMembers(desired, fields, path, lost)
}

function collectLostMembers(desired: JsonMap, fields: JsonMap, path: Path, lost: string[]) {
  for (const [name, value] of Object.entries(desired)) {
    // The server records no owner of an empty list, and keeps no null.
    if (value === null || isEmptyList(value)) continue
    collectLostAt(value, memberOf(fields, `f:${name}`), [...path, name], lost)
  }
}

function collectLostItems(
  desired: readonly unknown[],
  fields: JsonMap,
  path: Path,
  lost: string[],
) {
  const ownedItem = createItemLookup(fields)
  for (const [index, item] of desired.entries())
    collectLostAt(item, ownedItem(item), [...path, String(index)], lost)
}

function collectLostAt(desired: unknown, fields: unknown, path: Path, lost: string[]) {
  if (isMap(fields)) collectLost(desired, fields, path, lost)
  else lost.push(formatPointer(path))
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

/**
 * Finds the entry of a list's item among `k:{"name":"a"}` and `v:"a"`. An item may leave out a key that has a default, so
 * that it is looked for by the keys that it has.
 */
function createItemLookup(fields: JsonMap): (item: unknown) => unknown {
  const elements = Object.entries(fields).flatMap(([element, content]) => {
    const parsed = /^[kv]:/.test(element) ? parseJson(element.slice(2)) : undefined
    return parsed?.ok ? [{ key: parsed.value, content }] : []
  })
  const keyNames = [...new Set(elements.flatMap(({ key }) => (isMap(key) ? Object.keys(key) : [])))]
  const indexes = new Map<string, ReadonlyMap<string, unknown>>()
  return (item) => {
    const names = keyNames.filter((name) => memberOf(item, name) !== undefined)
    const indexName = names.join()
    const index =
      indexes.get(indexName) ??
      new Map(elements.toReversed().map(({ key, content }) => [keyText(key, names), content]))
    indexes.set(indexName, index)
    return index.get(keyText(item, names))
  }
}

const keyText = (value: unknown, names: readonly string[]) =>
  canonicalJson(isMap(value) ? names.map((name) => memberOf(value, name)) : value)
