import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

import { readManifests } from '../../../../src/cli/check/manifests.ts'

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`
const namesIn = async (paths: readonly string[], limits?: Parameters<typeof readManifests>[1]) =>
  (await readManifests(paths, limits)).manifests.map(
    ({ object, line }) => `${object.metadata.name}:${line}`,
  )

t.test('takes files, and folders with all that is in them, in order', async (t) => {
  const folder = t.testdir({
    'a.yaml': `# said before\n${map('a')}---\n# nothing\n---\n${map('b')}`,
    deeper: {
      'c.yml': map('c'),
      'd.json': '{"apiVersion":"v1","kind":"A","metadata":{"name":"d"}}',
    },
    'e.txt': 'no manifest',
    '.git': { 'f.yaml': 'a: [' },
    'list.yaml': `apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: g}\n- metadata: {name: h}\n`,
  })
  symlinkSync(folder, join(folder, 'around'))
  t.same(await namesIn([folder]), ['a:2', 'b:8', 'c:1', 'd:1', 'g:1', 'h:1'])
  t.same(await namesIn([join(folder, 'a.yaml'), join(folder, 'deeper')]), [
    'a:2',
    'b:8',
    'c:1',
    'd:1',
  ])
})

t.test('takes a list that is longer than the arguments of a call may be', async (t) => {
  const items = Array.from({ length: 200_000 }, () => ({ metadata: { name: 'a' } }))
  const list = { apiVersion: 'v1', kind: 'ConfigMapList', items }
  const folder = t.testdir({ 'list.json': JSON.stringify(list) })
  t.equal((await readManifests([folder])).manifests.length, items.length)
})

t.test(
  'passes over what is no object in a folder, and what only has a kind anywhere',
  async (t) => {
    const folder = t.testdir({
      'kustomization.yaml': 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n',
      'values.yaml': 'a: 1\n',
      'z.yaml': map('z'),
    })
    const { manifests, skipped } = await readManifests([folder])
    t.equal(manifests.length, 1)
    t.match(skipped, [/kustomization.yaml:1: it is no Kubernetes object/, /values.yaml:1: /])
    t.equal((await readManifests([join(folder, 'kustomization.yaml')])).skipped.length, 1)
    await t.rejects(
      readManifests([join(folder, 'values.yaml')]),
      /values.yaml:1: it is no Kubernetes/,
    )
  },
)

const UNREADABLE = ['broken.yaml', 'bomb.yaml', 'deep.json', 'deep.yaml', 'chart.yaml']

t.test('names the file that cannot be read, and reads the rest of a folder', async (t) => {
  const folder = t.testdir({
    'broken.yaml': 'a: [',
    'bomb.yaml': `a: &a [1,1,1,1,1,1,1,1,1]\n${[...'bcdefgh'].map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]`).join('\n')}\n`,
    'deep.json': `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    'deep.yaml': `a: ${'['.repeat(300)}${']'.repeat(300)}`,
    'chart.yaml': `${map('a')}---\n{{- if .Values.a }}\n${map('b')}{{- end }}\n`,
    'well.yaml': map('well'),
  })
  for (const name of [...UNREADABLE, 'none'])
    await t.rejects(readManifests([join(folder, name)]), new RegExp(name))
  const { manifests, faults } = await readManifests([folder])
  t.same(
    manifests.map(({ object }) => object.metadata.name),
    ['well'],
  )
  t.same(
    faults.map(({ file }) => file),
    UNREADABLE.toSorted().map((name) => join(folder, name)),
  )
  for (const { file, message } of faults) t.ok(message.includes(file), message)
  t.match(
    faults.find(({ file }) => file.endsWith('chart.yaml')),
    { line: 5 },
  )
})

t.test('reads no more than there may be, and says what is too much', async (t) => {
  const folder = t.testdir({ 'a.yaml': map('a'), 'b.yaml': map('b') })
  const size = map('a').length
  t.same(await namesIn([folder], { files: 2, bytes: 2 * size }), ['a:1', 'b:1'])
  const less = { files: 2, bytes: 2 * size - 1 }
  await t.rejects(namesIn([folder], less), /b.yaml: with it there are more than \d+ bytes/)
  await t.rejects(namesIn([folder], { files: 1, bytes: 1e6 }), /more than 1 files/)
  await t.rejects(namesIn([folder, folder], { files: 3, bytes: 1e6 }), /more than 3 files/)
  const endless = { files: 1, bytes: 1_000 }
  await t.rejects(readManifests(['/dev/zero'], endless), /more than 1000 bytes/)
  mkdirSync(join(folder, 'empty'))
  writeFileSync(join(folder, 'empty', 'nothing.yaml'), '---\n---\n')
  const nothing = { manifests: [], skipped: [], faults: [] }
  t.same(await readManifests([join(folder, 'empty')]), nothing)
})
