import type { CatalogChange } from '../../test/cluster/harness/program.ts'

const TEMPLATE = 'active/synthetic.yaml.ejs'
const SETTINGS = 40

/** A catalog of the HyperConverged and so many ConfigMaps of about 2 KB, all alike but for their names. */
export const syntheticAssets = (count: number): CatalogChange => ({
  change: ({ assets, ...others }) => ({
    ...others,
    assets: [...assets.slice(0, 1), ...Array.from({ length: count }, (_, index) => entry(index))],
  }),
  files: { [TEMPLATE]: template },
})

const entry = (index: number) => ({
  name: `synthetic-${index}`,
  group: 'synthetic',
  description: 'the benchmark wants many',
  template: TEMPLATE,
  object: {
    group: '',
    versions: ['v1'],
    kind: 'ConfigMap',
    resource: 'configmaps',
    namespace: 'openshift-cnv',
    name: `synthetic-${index}`,
  },
  install: 'always',
  order: 10,
})

const settings = Array.from(
  { length: SETTINGS },
  (_, index) => `  setting-${index}: the value of this one is as long as most of them`,
)

const template = `apiVersion: <%= object.apiVersion %>
kind: <%= object.kind %>
metadata:
  name: <%= object.name %>
  namespace: <%= object.namespace %>
data:
  of: <%= object.name %>
${settings.join('\n')}
`
