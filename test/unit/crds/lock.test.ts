import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { kindKey } from '../../../src/shared/baseline/catalog/catalog.ts'
import {
  fileOf,
  groupOf,
  isNeeded,
  loadDefinitions,
} from '../../../tools/control-plane/definitions.ts'
import { requireAsLocked } from '../../../tools/crds/derive.ts'
import { isPublished, type Lock, nameOf } from '../../../tools/crds/lock.ts'
import { mistakesIn, readLock } from '../../../tools/crds/read-lock.ts'
import { catalog } from '../baseline/facts.ts'
import { lockWith, published, SORTS } from './published.ts'

const CRDS = join(import.meta.dirname, '../../crds')
const lock = readLock(CRDS)
const standIns = lock.definitions.filter((definition) => !isPublished(definition))

t.test('the folder holds the definitions of the lock, and no other', async (t) => {
  const files = globSync('*/**', { cwd: CRDS, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(CRDS.length + 1))
  t.same(files.sort(), lock.definitions.map(fileOf).sort())
})

t.test('each stand-in is what the lock says, and says that it is one', async (t) => {
  t.equal(standIns.length, 3)
  for (const definition of standIns) {
    const text = readFileSync(join(CRDS, fileOf(definition)), 'utf8')
    t.match(text, /^# Stand-in, /)
    const crd = parse(text)
    t.equal(crd.metadata.name, definition.name)
    t.doesNotThrow(() => requireAsLocked(definition, crd))
  }
})

t.test('every kind that the catalog applies or asks for is installed by default', async (t) => {
  const needed = lock.definitions.filter(isNeeded)
  const known = needed.map(({ kind, ...rest }) => kindKey({ group: groupOf(rest), kind }))
  const wanted = catalog.flatMap(({ object, conditions }) => [
    object,
    ...conditions.flatMap((condition) => (condition.type === 'crd' ? [condition] : [])),
  ])
  const isCustom = ({ group }: { group: string }) =>
    group.includes('.') && !group.endsWith('.k8s.io')
  for (const kind of wanted.filter(isCustom)) t.ok(known.includes(kindKey(kind)), kindKey(kind))
  const loaded = loadDefinitions(CRDS).map(({ metadata }) => metadata.name)
  t.same(
    loaded,
    needed.map(({ name }) => name),
  )
})

t.test('every source is used, and every module has its sums', async (t) => {
  const used = new Set(lock.definitions.filter(isPublished).map(({ source }) => source))
  t.same([...used].sort(), lock.sources.map(nameOf).sort())
  const sums = readFileSync(join(CRDS, 'crds.go.sum'), 'utf8').trim().split('\n')
  const modules = [...lock.sources, lock.generator].filter((source) => 'module' in source)
  const wanted = modules.flatMap(({ module, version }) => [
    `${module} ${version}`,
    `${module} ${version}/go.mod`,
  ])
  t.same(sums.map((line) => line.slice(0, line.lastIndexOf(' '))).sort(), wanted.sort())
})

t.test(
  'a mistake in the lock is told with its definition, its field and the way out',
  async (t) => {
    const entry = published(SORTS)
    const { path: _, ...withoutPath } = entry
    const mistakes: readonly (readonly [Lock, string])[] = [
      [lockWith(entry, entry), 'it is listed twice: remove one entry'],
      [
        lockWith({ ...entry, category: 'sorts' }),
        'category is sorts: use one of kubevirt, openshift, operators, remediation, observability, oadp, gitops',
      ],
      [
        lockWith({ ...entry, tier: 'some' as 'other' }),
        'tier is some: use one of managed, read, other',
      ],
      [
        lockWith({ ...entry, source: 'example.com/none' }),
        'source is example.com/none: use one of example.com/sorts',
      ],
      [
        lockWith({ ...entry, format: 'json' as 'yaml' }),
        'format is json: use one of yaml, go-embed, go-schema, openapi, controller-gen, standin',
      ],
      [lockWith(withoutPath as typeof entry), 'it has no path: add it'],
      [lockWith({ ...entry, format: 'go-embed' } as typeof entry), 'it has no key: add it'],
    ]
    for (const [given, mistake] of mistakes)
      t.same(mistakesIn(given), [`sorts.example.com: ${mistake}`])
    t.same(mistakesIn(lockWith(entry)), [])
  },
)

t.test('a lock with mistakes is not read', async (t) => {
  const folder = t.testdir({
    'crds.lock.yaml': JSON.stringify(lockWith({ ...published(SORTS), category: 'no' })),
  })
  t.throws(() => readLock(folder), { message: /crds\.lock\.yaml:\nsorts\.example\.com: category/ })
})
