import t from 'tap'
import { statusOf } from '../../../src/shared/baseline/asset-status.ts'
import { readSettings } from '../../../src/shared/baseline/settings/settings.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { assetNamed, factsWith } from '../baseline/facts.ts'
import { readExpression } from './prometheus/expression.ts'
import { DESCHEDULER_METRICS, knownMetrics } from './prometheus/metric-labels.ts'

/** What a panel shows. */
interface Panel {
  readonly spec: {
    readonly queries: readonly {
      readonly spec: {
        readonly plugin: {
          readonly spec: Readonly<Record<'query' | 'seriesNameFormat', string>>
        }
      }
    }[]
  }
}

/** A dashboard as Perses reads it. */
interface Dashboard {
  readonly panels: Readonly<Record<string, Panel>>
  readonly layouts: readonly {
    readonly spec: { readonly items: readonly Item[] }
  }[]
}

interface Item {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly content: { readonly $ref: string }
}

function dashboardOf(asset: string): Dashboard {
  const { settings } = readSettings({})
  const facts = factsWith({ hco: { annotations: { 'enable-dashboards': 'true' } } })
  const status = statusOf(assetNamed(asset), facts, settings, sha256)
  if (status.kind !== 'active') throw new Error(JSON.stringify(status))
  return (status.baseline.spec as { readonly config: Dashboard }).config
}

const dashboards = [
  ['autopilot-dashboard', knownMetrics()],
  ['descheduler-dashboard', DESCHEDULER_METRICS],
] as const

for (const [asset, metrics] of dashboards) {
  const { panels, layouts } = dashboardOf(asset)

  for (const [name, { spec }] of Object.entries(panels)) {
    t.test(`${asset} asks for metrics and labels that there are, in ${name}`, async (t) => {
      t.equal(spec.queries.length, 1)
      for (const { spec: query } of spec.queries) {
        const { query: text, seriesNameFormat, ...others } = query.plugin.spec
        const { labels, mistakes } = readExpression(text, metrics)
        t.same(mistakes, [])
        const named = [...seriesNameFormat.matchAll(/\{\{(\w+)\}\}/g)].map(
          ([, label = '']) => label,
        )
        t.same(named.toSorted(), labels.toSorted(), 'each series has a name of its own')
        t.same(others, {}, 'no data source is named')
      }
    })
  }

  t.test(`${asset} shows each of its panels once, none over another`, async (t) => {
    const items = layouts.flatMap(({ spec }) => spec.items)
    t.same(
      items.map(({ content }) => content.$ref),
      Object.keys(panels).map((name) => `#/spec/panels/${name}`),
    )
    const places = items.map(({ x, y }) => `${x},${y}`)
    t.equal(new Set(places).size, items.length)
    for (const { x, y, width, height } of items) {
      t.equal(x % width, 0)
      t.equal(y % height, 0)
      t.ok(x + width <= 24)
    }
  })
}
