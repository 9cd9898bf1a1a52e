import { existsSync, readFileSync } from 'node:fs'

import { isMap, type KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { valueAt } from '../../../../src/shared/engine/json/pointer.ts'
import { validatorOf } from './closed-schema.ts'

const SCHEMAS = new URL('../../../fixtures/ignition/', import.meta.url)

/**
 * What is wrong with the Ignition configuration in a MachineConfig, by the specification that it states
 * (https://coreos.github.io/ignition/specs/): by its schema, and by the rules that its text adds. One without any
 * has nothing wrong.
 */
export function ignitionFaults(object: KubeObject): readonly string[] {
  const config = valueAt(object, ['spec', 'config'])
  if (object.kind !== 'MachineConfig' || config === undefined) return []
  const version = String(valueAt(config, ['ignition', 'version']))
  const [major, minor, patch] = version.split('.')
  const schema = new URL(`${major}.${minor}.json`, SCHEMAS)
  if (patch !== '0' || !existsSync(schema)) return [`no specification ${version} is known`]
  const files = listAt(config, ['storage', 'files'])
  const units = listAt(config, ['systemd', 'units'])
  return [
    ...validatorOf(readSchema(schema))(config),
    ...files.flatMap(fileFaults),
    ...units.flatMap(unitFaults),
    ...twice(files.map(({ path }) => `file ${path}`)),
    ...twice(units.map(({ name }) => `unit ${name}`)),
  ]
}

/** The schema with each type that is made of several written as one, which can be closed. */
function readSchema(file: URL): object {
  const schema = JSON.parse(readFileSync(file, 'utf8')) as object
  const whole = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(whole)
    if (!isMap(part)) return part
    const { allOf = [], ...rest } = part
    const parts = (allOf as readonly Part[]).map((one) =>
      typeof one.$ref === 'string' ? valueAt(schema, one.$ref.split('/').slice(1)) : one,
    )
    const properties = [...parts, rest].map((one) => valueAt(one, ['properties']))
    const members = Object.fromEntries(
      Object.entries(rest).map(([name, member]) => [name, whole(member)]),
    )
    return parts.length === 0
      ? members
      : { ...members, properties: whole(Object.assign({}, ...properties)), type: 'object' }
  }
  return whole(schema) as object
}

type Part = Readonly<Record<string, unknown>>

const listAt = (value: unknown, path: readonly string[]): readonly Part[] => {
  const list = valueAt(value, path)
  return Array.isArray(list) ? list.filter(isMap) : []
}

const twice = (names: readonly string[]) =>
  names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `${name} is there twice`)

const DATA_URL = /^data:([^,;]+(?:;charset=[\w-]+)?)?(?:;base64)?,([A-Za-z0-9+/]*={0,2})$/

function fileFaults({ path, mode, contents }: Part): readonly string[] {
  const source = String(valueAt(contents, ['source']))
  return [
    ...(typeof path === 'string' && /^(\/[^/]+)+$/.test(path)
      ? []
      : [`${path} is no absolute path`]),
    // A mode that was meant as octal and written as decimal gives bits that no file of ours has.
    ...([0o644, 0o755, 0o600, 0o700].includes(Number(mode)) ? [] : [`${path}: mode ${mode}`]),
    ...(DATA_URL.test(source) ? [] : [`${path}: its source is no data URL in base64`]),
    ...(valueAt(contents, ['compression']) === undefined ? [] : [`${path} is compressed`]),
  ]
}

const UNIT_NAME = /^[\w@.-]+\.(service|slice|socket|mount|target|timer|path|swap)$/

function unitFaults({ name, enabled, contents, dropins = [] }: Part): readonly string[] {
  const text = String(contents ?? '')
  return [
    ...(UNIT_NAME.test(String(name)) ? [] : [`${name} is no name of a unit`]),
    ...(contents === undefined || isUnitText(text) ? [] : [`${name} has no section [Unit]`]),
    // systemd enables what says where.
    ...(enabled === true && !/^\[Install\]$/m.test(text) ? [`${name} says not what wants it`] : []),
    ...(dropins as readonly Part[]).flatMap((dropin) =>
      /^[\w-]+\.conf$/.test(String(dropin.name)) && /^\[\w+\]$/m.test(String(dropin.contents))
        ? []
        : [`${name}: its drop-in ${dropin.name} is none`],
    ),
  ]
}

const isUnitText = (text: string) => /^\[Unit\]$/m.test(text) && text.endsWith('\n')
