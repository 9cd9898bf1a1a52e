import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Originals } from '../../../tools/crds/derive.ts'
import type { Published } from '../../../tools/crds/lock.ts'
import { renew } from '../../../tools/crds/renew.ts'
import { reportOn } from '../../../tools/crds/report.ts'
import { lockWith, published, SORTS } from './published.ts'

const sorts = published(SORTS)
const NAME = 'sorts.example.com.yaml'
const OLD = 'what is there\n'

/** Originals that all have this content; by default nobody has any. */
const originalsOf = (content?: string): Originals => {
  const read = async () => {
    if (content === undefined) throw new Error('nobody answers')
    return Buffer.from(content)
  }
  return { read, generate: read }
}

const renewIn = (
  folder: string,
  content: string | undefined,
  definition: Published = sorts,
  verify = false,
) => {
  const originals = originalsOf(content)
  return renew(definition, { lock: lockWith(definition), folder, verify, originals })
}

const namesIn = (folder: string) => readdirSync(join(folder, 'operators'))
const textIn = (folder: string) => readFileSync(join(folder, 'operators', NAME), 'utf8')

t.test('writes what is derived, and says where from', async (t) => {
  const folder = t.testdir()
  t.same(await renewIn(folder, SORTS), { kind: 'written' })
  t.same(namesIn(folder), [NAME], 'and leaves nothing beside it')
  const [from, changed, ...crd] = textIn(folder).split('\n')
  t.equal(from, '# From example.com/sorts v1.2.3 (Apache-2.0), crds/sorts.yaml')
  t.equal(changed, '# Changed, as ../README.md says, by `npm run crds`: do not edit.')
  t.notMatch(crd.join('\n'), 'prose')
  t.match(crd.join('\n'), 'name: v1alpha1')
  t.same(await renewIn(folder, SORTS), { kind: 'current' })
  t.same(await renewIn(folder, SORTS, sorts, true), { kind: 'current' })
})

t.test('makes the changes that the lock wants', async (t) => {
  const folder = t.testdir()
  const overlay = [{ path: '/spec/scope', set: 'Namespaced', why: 'a test wants it' }]
  t.same(await renewIn(folder, SORTS, published(SORTS, undefined, { overlay })), {
    kind: 'written',
  })
  t.match(textIn(folder), 'scope: Namespaced')
})

t.test('takes from Go types what the generator makes of them', async (t) => {
  const folder = t.testdir()
  const types = 'package v1'
  const definition = published(types, { format: 'controller-gen', goPackage: './v1' })
  const lock = lockWith(definition)
  const originals: Originals = {
    read: async () => Buffer.from(types),
    generate: async () => Buffer.from(SORTS),
  }
  t.same(await renew(definition, { lock, folder, verify: false, originals }), { kind: 'written' })
})

t.test('only compares, when asked to', async (t) => {
  const folder = t.testdir({ operators: { [NAME]: OLD } })
  t.same(await renewIn(folder, SORTS, sorts, true), { kind: 'differs' })
  t.equal(textIn(folder), OLD)
  const empty = t.testdir()
  t.same(await renewIn(empty, SORTS, sorts, true), { kind: 'differs' }, 'with what is missing too')
  t.same(readdirSync(empty), [])
})

const failures: readonly {
  readonly name: string
  readonly content?: string
  readonly definition?: Published
  readonly why: RegExp
}[] = [
  { name: 'the original cannot be had', why: /^nobody answers$/ },
  {
    name: 'the original is another one',
    content: `${SORTS}# changed\n`,
    why: /^crds\/sorts.yaml has the SHA-256 [0-9a-f]{64}: the lock says [0-9a-f]{64}: compare, then correct it$/,
  },
  {
    name: 'the original holds something else',
    content: 'kind: Other',
    definition: published('kind: Other'),
    why: /^the file has no definition of that name$/,
  },
  {
    name: 'the kind is another one',
    content: SORTS,
    definition: published(SORTS, undefined, { kind: 'Order' }),
    why: /^kind is Sort: the lock says Order: compare, then correct it$/,
  },
  {
    name: 'other versions are served',
    content: SORTS,
    definition: published(SORTS, undefined, { served: ['v1'] }),
    why: /^served is v1,v1beta1: the lock says v1: compare, then correct it$/,
  },
  {
    name: 'another version is stored',
    content: SORTS,
    definition: published(SORTS, undefined, { storage: 'v1beta1' }),
    why: /^storage is v1: the lock says v1beta1: compare, then correct it$/,
  },
]

for (const { name, content, definition, why } of failures) {
  t.test(`keeps what is there where ${name}`, async (t) => {
    for (const verify of [false, true]) {
      const folder = t.testdir({ operators: { [NAME]: OLD } })
      t.match(await renewIn(folder, content, definition, verify), { kind: 'failed', why })
      t.equal(textIn(folder), OLD)
      t.same(namesIn(folder), [NAME])
    }
  })
}

t.test('reports each file that differs, and each reason once', async (t) => {
  const why = 'go mod download: nobody answers'
  const { lines, isFailure } = reportOn([
    { file: 'a.yaml', outcome: { kind: 'current' } },
    { file: 'b.yaml', outcome: { kind: 'failed', why } },
    { file: 'c.yaml', outcome: { kind: 'differs' } },
    { file: 'd.yaml', outcome: { kind: 'written' } },
    { file: 'e.yaml', outcome: { kind: 'failed', why } },
  ])
  t.ok(isFailure)
  t.same(lines, [
    'written: d.yaml',
    'differs: c.yaml',
    `left as it was, since ${why}`,
    '  b.yaml',
    '  e.yaml',
    '1 current, 1 written, 1 differ, 2 left as they were',
  ])
})

t.test('what is current or written is no failure', async (t) => {
  const renewed = (['current', 'written'] as const).map((kind) => ({
    file: kind,
    outcome: { kind },
  }))
  t.notOk(reportOn(renewed).isFailure)
  for (const outcome of [{ kind: 'differs' }, { kind: 'failed', why: 'a' }] as const)
    t.ok(reportOn([{ file: 'a', outcome }]).isFailure)
})
