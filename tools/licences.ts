// Lists under which licences the dependencies are, by package-lock.json, and fails where one that ships is under none that we take:
// `npm run licences`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The part of a package-lock.json that is read. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>
}

interface LockEntry {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: boolean
}

// They ask for no more than to be named, and are compatible with ours, Apache-2.0.
const TAKEN = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Unlicense',
]

/** The packages of each licence, those that ship and the others, and those that ship and may not. */
export function licencesIn({ packages }: Lock) {
  const all = Object.entries(packages).flatMap(([path, { license = 'none', dev = false }]) =>
    path === '' ? [] : [{ name: path.replace(/^.*node_modules\//, ''), license, isShipped: !dev }],
  )
  const lines = Map.groupBy(all, ({ license }) => license)
    .entries()
    .map(([license, found]) => {
      const shipped = found.filter(({ isShipped }) => isShipped)
      return `${license}: ${shipped.length} that ship, ${found.length - shipped.length} for development`
    })
  const refused = all.filter(({ license, isShipped }) => isShipped && !isTaken(license))
  return {
    lines: [...lines].sort(),
    refused: refused.map(({ name, license }) => `${name} (${license})`),
  }
}

// One of several that the author offers is enough.
const isTaken = (license: string) =>
  license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((one) => TAKEN.includes(one))

if (import.meta.main) {
  const file = join(import.meta.dirname, '../package-lock.json')
  const { lines, refused } = licencesIn(JSON.parse(readFileSync(file, 'utf8')) as Lock)
  for (const line of lines) console.log(line)
  for (const one of refused)
    console.error(`licences: ${one} ships, and is under no licence of ${TAKEN.join(', ')}`)
  if (refused.length > 0) process.exitCode = 1
}
