import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'

import { loadCatalogWith } from '../../src/cli/assets.ts'
import * as names from '../../src/shared/baseline/annotations.ts'
import { conditionsOf } from '../../src/shared/baseline/catalog/catalog.ts'
import { loadCatalog } from '../../src/shared/baseline/catalog/load-catalog.ts'
import { FACT_SOURCES } from '../../src/shared/baseline/facts/facts.ts'
import { MAX_DEPTH } from '../../src/shared/engine/json/pointer.ts'
import { TEMPLATE_NAMES } from '../../src/shared/engine/strict-view.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT })]
const annotations = read('docs/baseline/annotations.md')

const keysOf = (text: string) =>
  new Set(text.match(/platform\.kubevirt\.io\/[a-z0-9-]+/g)?.map((key) => key.replace(/-$/, '')))

t.test(
  'docs/baseline/annotations.md describes every annotation that there is, and no other',
  async (t) => {
    const { PREFIX } = names
    const stated = Object.values(names)
      .flat()
      .filter((name) => typeof name === 'string' && name.startsWith(PREFIX) && name !== PREFIX)
    const catalog = await loadCatalogWith({ namespace: 'autopilot' })
    const optIns = catalog
      .flatMap(conditionsOf)
      .flatMap((condition) =>
        condition.type === 'annotation' && !condition.not ? [PREFIX + condition.key] : [],
      )
    const known = new Set([...stated, ...optIns])
    t.same([...keysOf(annotations)].sort(), [...known].sort())
  },
)

t.test('no page names an annotation that there is not', async (t) => {
  const known = keysOf(annotations)
  for (const page of pages.filter((page) => page !== 'docs/baseline/assets.md')) {
    for (const key of keysOf(read(page))) t.ok(known.has(key), `${page}: ${key}`)
  }
})

t.test('the limits that the page states are the code’s', async (t) => {
  t.match(annotations, `nesting at most ${MAX_DEPTH}`)
})

t.test('every link to a file of ours leads somewhere', async (t) => {
  for (const page of pages) {
    // A pattern in code may look like one.
    const prose = read(page).replaceAll(/`[^`\n]*`/g, '')
    for (const [, target = ''] of prose.matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      if (target.startsWith('https://')) continue
      t.ok(existsSync(join(ROOT, dirname(page), target)), `${page}: ${target}`)
    }
  }
})

t.test('every source file that a page names exists', async (t) => {
  for (const page of ['docs/tour.md', 'docs/architecture.md']) {
    for (const [path] of read(page).matchAll(/[\w./-]+\.ts\b/g)) {
      const found = globSync([path, `src/**/${path}`], { cwd: ROOT })
      t.ok(found.length > 0, `${page}: ${path}`)
    }
  }
})

t.test('every YAML example parses', async (t) => {
  for (const page of pages) {
    for (const [, yaml = ''] of read(page).matchAll(/```yaml\n([\s\S]*?)```/g)) {
      t.same(
        parseAllDocuments(yaml).flatMap(({ errors }) => errors),
        [],
        page,
      )
    }
  }
})

t.test('every script that a page shows exists', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const page of pages) {
    for (const [, script = ''] of read(page).matchAll(/npm (?:run )?(start|test)\b/g)) {
      t.ok(script in scripts, `${page}: ${script}`)
    }
    for (const [, script = ''] of read(page).matchAll(/npm run (?:-s )?([a-z][a-z0-9:-]*)/g)) {
      t.ok(script in scripts, `${page}: ${script}`)
    }
  }
})

const blocksOf = (page: string, language: string) =>
  [...read(page).matchAll(/```(\w*)\n([\s\S]*?)```/g)].flatMap(([, stated, text = '']) =>
    stated === language ? [text] : [],
  )

t.test('the page on assets of one’s own shows the example that the tests run', async (t) => {
  const folder = 'docs/examples/own-assets'
  const [catalog, volumes = '', removal = ''] = blocksOf('docs/baseline/own-assets.md', 'yaml')
  t.equal(catalog, read(`${folder}/catalog.yaml`))
  const [template] = blocksOf('docs/baseline/own-assets.md', '')
  t.equal(template, read(`${folder}/active/vm-clock.yaml.ejs`))
  const files = globSync(`${folder}/**/*.*`, { cwd: ROOT }).map((name) => relative(folder, name))
  const [{ configMap }] = parse(volumes).volumes
  t.same(configMap.items.map(({ path }: { path: string }) => path).sort(), files.sort())
  const commands = blocksOf('docs/baseline/own-assets.md', 'sh').join('')
  for (const name of files) t.ok(commands.includes(`--from-file=${folder}/${name}`), name)

  const own = (text: string) => ({
    title: 'catalog.yaml',
    read: (name: string) => (name === 'catalog.yaml' ? text : read(`${folder}/${name}`)),
    isChecked: true,
  })
  const load = (text: string) => loadCatalog({ folders: [own(text)], namespace: 'autopilot' })
  const [kept] = load(catalog ?? '')
  const [buried] = load(removal)
  t.equal(buried?.isTombstone, true)
  t.strictSame(buried?.object, kept?.object)
})

t.test('the page on commands names all that facts are read from', async (t) => {
  const page = read('docs/baseline/commands.md')
  const [, row = ''] = /^\| `--nodes FILE` \| (.*) \|$/m.exec(page) ?? []
  const { hco, ...others } = FACT_SOURCES
  for (const { kind } of Object.values(others)) t.match(row, new RegExp(`\\b${kind}s?\\b`), kind)
  const taken = [...page.matchAll(/^kubectl get (\S+) .* > /gm)].flatMap(([, list = '']) =>
    list.split(',').map((resource) => resource.replace(/\..*/, '')),
  )
  const sources = [hco, ...Object.values(others)].map(({ resource }) => resource)
  t.same(taken.sort(), [...new Set(sources)].sort())
})

t.test('the page on assets of one’s own names all that a template is given', async (t) => {
  const page = read('docs/baseline/own-assets.md')
  for (const name of TEMPLATE_NAMES) t.match(page, new RegExp(`\\| .*\`${name}[.(\`]`), name)
})
