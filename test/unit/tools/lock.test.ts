import { readFileSync } from 'node:fs'
import t from 'tap'

interface Entry {
  readonly integrity?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Readonly<Record<string, Entry>>
}
const entries = Object.entries(packages).filter(([path]) => path !== '')

t.test('what the lock file names is installed as it was published, or not at all', async (t) => {
  t.ok(entries.length > 300)
  const without = entries.filter(([, { integrity = '' }]) => !/^sha512-.{86}==$/.test(integrity))
  t.same(
    without.map(([path]) => path),
    [],
  )
})

t.test('every platform has its entries, and so a clean install', async (t) => {
  const wanted = entries.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}))
  t.ok(wanted.some((name) => name.includes('darwin-arm64')))
  t.same(
    wanted.filter((name) => !(`node_modules/${name}` in packages)),
    [],
    'a registry’s mirror that has not got one yet makes npm leave it out: take the version before',
  )
})
