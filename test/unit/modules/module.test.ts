import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { embeddedModules, folderModule } from '../../../src/shared/modules/folder.ts'
import {
  configMapModule,
  createModule,
  inlineModule,
  LIMITS,
} from '../../../src/shared/modules/module.ts'

const digestOf = (files: Readonly<Record<string, string>>) => {
  const made = createModule(files)
  return made.ok ? made.value.digest : made.error.message
}
const messageOf = (made: ReturnType<typeof createModule>) => (made.ok ? '' : made.error.message)

t.test('the digest is of names and contents, whatever their order', (t) => {
  const digest = digestOf({ 'a.cue': '1', 'b.cue': '2' })
  t.match(digest, /^sha256:[0-9a-f]{64}$/)
  t.equal(digestOf({ 'b.cue': '2', 'a.cue': '1' }), digest)
  const names = fc.constantFrom('a.cue', 'b.cue', 'c/a.cue', 'c.cue')
  const files = fc.dictionary(names, fc.string({ maxLength: 3 }), { minKeys: 1 })
  fc.assert(
    fc.property(files, files, (one, other) => {
      const same = (a: typeof one, b: typeof one) =>
        Object.keys(a).length === Object.keys(b).length &&
        Object.entries(a).every(([name, text]) => b[name] === text)
      return (digestOf(one) === digestOf(other)) === same(one, other)
    }),
  )
  t.end()
})

t.test('a module of one text, of a ConfigMap and of a folder is the same one', (t) => {
  const text = 'package m\n#Input: {}\n'
  const folder = t.testdir({ 'module.cue': text, 'README.md': 'not CUE' })
  const made = [inlineModule(text), configMapModule({ 'module.cue': text }), folderModule(folder)]
  t.equal(new Set(made.map((one) => (one.ok ? one.value.digest : one.error.message))).size, 1)
  const deep = folderModule(t.testdir({ 'cue.mod': { 'module.cue': 'a' }, a: { 'b.cue': 'b' } }))
  t.same(deep.ok && Object.keys(deep.value.files).sort(), ['a/b.cue', 'cue.mod/module.cue'])
  t.throws(() => folderModule(join(folder, 'none')), { code: 'ENOENT' })
  t.end()
})

t.test('each folder of those that come with the program is a module', (t) => {
  const text = 'package m\n'
  const folder = t.testdir({ b: { 'm.cue': text }, a: { 'm.cue': text }, 'README.md': '' })
  t.same([...embeddedModules(folder).keys()], ['a', 'b'])
  const broken = t.testdir({ b: { 'README.md': '' } })
  t.throws(() => embeddedModules(broken), { message: /b: there is no CUE file in the module$/ })
  t.end()
})

t.test('what is no module is told why', (t) => {
  t.equal(messageOf(createModule({})), 'there is no CUE file in the module')
  t.equal(messageOf(configMapModule()), 'there is no CUE file in the module')
  t.equal(
    messageOf(configMapModule({ 'a.cue': '', 'b.txt': '' })),
    'the key b.txt is not the name of a CUE file: all of them end with .cue',
  )
  for (const path of [
    '/a.cue',
    '../a.cue',
    'a/../b.cue',
    'a//b.cue',
    './a.cue',
    'a\nb.cue',
    'a\\b.cue',
    '',
  ])
    t.equal(
      messageOf(createModule({ 'm.cue': '', [path]: '' })),
      `${JSON.stringify(path)} is no path of a file in a module`,
    )
  t.equal(messageOf(createModule({ 'm.cue': '' }, '../a')), '"../a" is no path within the module')
  t.equal(messageOf(createModule({ 'a/m.cue': '' }, 'a')), '')
  const many = Array.from({ length: LIMITS.files + 1 }, (_, at) => [`${at}.cue`, ''])
  t.equal(messageOf(createModule(Object.fromEntries(many))), '101 files, more than 100')
  const large = 'é'.repeat(LIMITS.moduleBytes / 2)
  t.equal(messageOf(createModule({ 'm.cue': large })), '')
  t.equal(messageOf(createModule({ 'm.cue': `${large}.` })), '1048577 bytes, more than 1048576')
  t.end()
})
