import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { isHyperConverged } from '../../../src/shared/baseline/catalog/catalog.ts'
import { loadCatalog } from '../../../src/shared/baseline/catalog/load-catalog.ts'
import { syntheticAssets } from '../../../tools/bench/synthetic-assets.ts'

const ASSETS = join(import.meta.dirname, '../../../assets')
const shipped = (name: string) => readFileSync(join(ASSETS, name), 'utf8')

const catalogOf = (count: number) => {
  const { change, files = {} } = syntheticAssets(count)
  const text = stringify(change(parse(shipped('catalog.yaml'))))
  const read = (name: string) => (name === 'catalog.yaml' ? text : (files[name] ?? shipped(name)))
  return loadCatalog({ folders: [{ title: 'catalog.yaml', read }], namespace: 'autopilot' })
}

t.test('a synthetic catalog is one that the program loads', async (t) => {
  const [first, ...others] = catalogOf(30)
  t.ok(first && isHyperConverged(first))
  t.equal(others.length, 30)
  t.equal(new Set(others.map(({ object }) => object.name)).size, 30)
  t.same([...new Set(others.map(({ object }) => object.kind))], ['ConfigMap'])
  t.ok(others.every(({ install, conditions }) => install === 'always' && conditions.length === 0))
})

t.test('each of its objects has about two kilobytes, and says whose it is', async (t) => {
  for (const { render, file, object } of catalogOf(3).slice(1)) {
    const { name, kind, namespace = '' } = object
    const locals = {
      facts: {},
      object: { apiVersion: 'v1', kind, namespace, name },
      pool: undefined,
      enums: {},
      fields: {},
      sections: {},
      file,
    }
    const rendered = render(locals)
    t.match(rendered, { object: { metadata: { name, namespace }, data: { of: name } } })
    const bytes = JSON.stringify(rendered).length
    t.ok(bytes > 1_800 && bytes < 3_000, `${bytes} bytes`)
  }
})
