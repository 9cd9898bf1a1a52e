import { alerts } from '../../unit/assets/prometheus/alerts.ts'

/** The series of a scrape that an alert looks at, by their names and labels, with their values. */
export function selectedBy(name: string, metrics: string): ReadonlyMap<string, number> {
  const { expr = '' } = alerts.find(({ alert }) => alert === name) ?? {}
  const selectors = [...expr.matchAll(/(apiserver_\w+)\{([^}]*)\}/g)]
  if (selectors.length === 0) throw new Error(`${name} asks nothing of the API server`)
  const series = metrics.split('\n').flatMap((line) => {
    const [, metric, labels = '', value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? []
    const isSelected = selectors.some(
      ([, wanted, matchers = '']) => metric === wanted && matchesAll(matchers, labels),
    )
    return isSelected ? [[`${metric}{${labels}}`, Number(value)] as const] : []
  })
  return new Map(series)
}

const MATCHES: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  '=': (value, wanted) => value === wanted,
  '!=': (value, wanted) => value !== wanted,
  '=~': (value, wanted) => new RegExp(`^(?:${wanted})$`).test(value),
  '!~': (value, wanted) => !new RegExp(`^(?:${wanted})$`).test(value),
}

// A label that a series lacks is as good as an empty one.
function matchesAll(matchers: string, labels: string): boolean {
  const values = new Map(
    [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  )
  return [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].every(
    ([, key, operator = '', wanted = '']) => MATCHES[operator]?.(values.get(key) ?? '', wanted),
  )
}
