import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

import { LOCK_FILE } from '../control-plane/definitions.ts'
import { type Lock, nameOf, type Published, type StandIn } from './lock.ts'

/** The folders of the definitions, in the order in which they are told. */
export const CATEGORIES = [
  'kubevirt',
  'openshift',
  'operators',
  'remediation',
  'observability',
  'oadp',
  'gitops',
] as const

const TIERS = ['managed', 'read', 'other']
const OF_ALL = ['kind', 'served', 'storage']
const OF_PUBLISHED = ['source', 'path', 'sha256']

/** What an entry needs besides, by its format. */
const OF_FORMAT: Readonly<Record<string, readonly string[]>> = {
  yaml: OF_PUBLISHED,
  'go-embed': [...OF_PUBLISHED, 'key'],
  'go-schema': [...OF_PUBLISHED, 'key', 'skeleton'],
  openapi: [...OF_PUBLISHED, 'skeleton'],
  'controller-gen': [...OF_PUBLISHED, 'goPackage'],
  standin: ['why'],
}

/** Reads the lock file of a folder; throws with every mistake in it. */
export function readLock(folder: string): Lock {
  const file = join(folder, LOCK_FILE)
  const lock = parse(readFileSync(file, 'utf8')) as Lock
  const mistakes = mistakesIn(lock)
  if (mistakes.length > 0) throw new Error(`${file}:\n${mistakes.join('\n')}`)
  return lock
}

/** What is wrong with a lock file, each in a sentence that names the definition and the field. */
export function mistakesIn({ sources, definitions }: Lock): readonly string[] {
  const known = sources.map(nameOf)
  const names = definitions.map(({ name }) => name)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  return [
    ...twice.map((name) => `${name}: it is listed twice: remove one entry`),
    ...definitions.flatMap((definition) =>
      mistakesOf(definition, known).map((mistake) => `${definition.name}: ${mistake}`),
    ),
  ]
}

function mistakesOf(definition: Published | StandIn, known: readonly string[]): readonly string[] {
  const { category, tier, format } = definition
  const needed = [...OF_ALL, ...(OF_FORMAT[format] ?? [])]
  return [
    ...unlessOneOf(CATEGORIES, 'category', category),
    ...unlessOneOf(TIERS, 'tier', tier),
    ...unlessOneOf(Object.keys(OF_FORMAT), 'format', format),
    ...('source' in definition ? unlessOneOf(known, 'source', definition.source) : []),
    ...needed
      .filter((field) => !(field in definition))
      .map((field) => `it has no ${field}: add it`),
  ]
}

const unlessOneOf = (known: readonly string[], field: string, value: string) =>
  known.includes(value) ? [] : [`${field} is ${value}: use one of ${known.join(', ')}`]
