import t from 'tap'

import { selectAssets } from '../../../src/cli/render/render.ts'
import { catalog } from '../baseline/facts.ts'

t.test('assets are selected by name, in the order of the catalog', async (t) => {
  const selected = selectAssets(catalog, ['metallb', 'swap-enable', 'metallb'])
  t.same(
    selected.map(({ name }) => name),
    ['swap-enable', 'metallb'],
  )
  t.equal(selectAssets(catalog, undefined), catalog)
})

t.test('for a name that is none the nearest is told', async (t) => {
  for (const [name, near] of [
    ['pci', 'pci-passthrough'],
    ['metalb', 'metallb'],
    ['node-health', 'node-health-standard'],
  ] as const) {
    const message = `--asset: no asset is named "${name}": did you mean "${near}"?`
    t.throws(() => selectAssets(catalog, ['metallb', name]), { name: 'UsageError', message })
  }
})
