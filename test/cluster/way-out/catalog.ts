import { stringify } from 'yaml'
import type { Scope } from '../harness/fixture.ts'
import { type CatalogText, configMap, type Program, programWith } from '../harness/program.ts'

/** What the ConfigMap of the tests holds at its baseline. */
export const TEXTS = { greeting: 'hello', password: 'Tr0ub4dor-stored', spare: 'here' }

const PORTS = {
  spec: {
    selector: { app: 'none' },
    ports: [
      { name: 'first', port: 80, protocol: 'TCP', targetPort: 8080 },
      { name: 'second', port: 81, protocol: 'TCP', targetPort: 8081 },
    ],
  },
}

const asset = (name: string, object: object) => ({
  name,
  group: 'mine',
  description: 'a test needs it',
  template: `active/${name}.yaml.ejs`,
  object,
  install: 'always',
  order: 90,
})

const template = (content: object, namespace = '') => `apiVersion: <%= object.apiVersion %>
kind: <%= object.kind %>
metadata:
  name: <%= object.name %>${namespace}
${stringify(content)}`
const NAMESPACED = '\n  namespace: <%= object.namespace %>'

const ROLE = {
  group: 'rbac.authorization.k8s.io',
  versions: ['v1'],
  kind: 'ClusterRole',
  resource: 'clusterroles',
  name: 'rules',
}

/** The shipped program and its catalog, with a ConfigMap, a Service and a ClusterRole besides. */
export const wayOutProgram = (t: Pick<Scope, 'teardown'>): Program =>
  programWith(t, {
    change: ({ assets }: CatalogText) => ({
      assets: [
        ...assets,
        asset('texts', configMap('texts')),
        asset('ports', { ...configMap('ports'), kind: 'Service', resource: 'services' }),
        asset('rules', ROLE),
      ],
    }),
    files: {
      'active/texts.yaml.ejs': template({ data: TEXTS }, NAMESPACED),
      'active/ports.yaml.ejs': template(PORTS, NAMESPACED),
      'active/rules.yaml.ejs': template({
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
      }),
    },
  })
