import t from 'tap'
import { accounts } from '../../../../src/shared/baseline/generated/rbac.ts'
import { BASELINE } from '../../../../src/shared/baseline/names.ts'
import { checkedCatalog, entry, HEAD, mistakesIn, NAMESPACE } from '../check/checked.ts'

const RBAC = 'rbac.authorization.k8s.io'
const FILE = 'active/one.yaml.ejs'

type Kind = 'ClusterRole' | 'Role' | 'ClusterRoleBinding' | 'RoleBinding'

const grantEntry = (kind: Kind, namespace?: string) =>
  entry({
    object: {
      group: RBAC,
      versions: ['v1'],
      kind,
      resource: `${kind.toLowerCase()}s`,
      name: 'one',
      ...(namespace !== undefined && { namespace }),
    },
  })

const templateOf = (body: string, namespace?: string) => ({
  [FILE]: `${HEAD}${namespace === undefined ? '' : '  namespace: <%= object.namespace %>\n'}${body}`,
})

/** The rules of the reconciler's role of a kind that it would not have without the asset's grant. */
function grantedIn(role: 'ClusterRole' | 'Role', kind: Kind, body: string, namespace?: string) {
  const rulesWith = (text: string) => {
    const catalog = checkedCatalog(
      { assets: [grantEntry(kind, namespace)] },
      templateOf(text, namespace),
    )
    const found = accounts(catalog, NAMESPACE).find(
      (object) => object.kind === role && object.metadata.name === BASELINE.reconcilerRole,
    )
    return ((found?.rules ?? []) as readonly unknown[]).map((rule) => JSON.stringify(rule))
  }
  const without = rulesWith(
    kind.endsWith('Role') ? 'rules: []\n' : 'roleRef: { kind: Role, name: none }\n',
  )
  return rulesWith(body)
    .filter((rule) => !without.includes(rule))
    .map((rule) => JSON.parse(rule))
}

const RULES = `rules:
  - apiGroups: ["", apps]
    resources: [pods, deployments]
    resourceNames: [<%= object.name %>]
    verbs: [get, patch]
  - nonResourceURLs: [/metrics]
    verbs: [get]
`
const rules = [
  {
    apiGroups: ['', 'apps'],
    resources: ['pods', 'deployments'],
    resourceNames: ['one'],
    verbs: ['get', 'patch'],
  },
  { nonResourceURLs: ['/metrics'], verbs: ['get'] },
]
const bind = (resource: string, name: string) => [
  { apiGroups: [RBAC], resources: [resource], resourceNames: [name], verbs: ['bind'] },
]

const grants: readonly (readonly [
  kind: Kind,
  namespace: string | undefined,
  body: string,
  role: 'ClusterRole' | 'Role',
  rules: readonly object[],
])[] = [
  ['ClusterRole', undefined, RULES, 'ClusterRole', rules],
  ['Role', 'elsewhere', RULES, 'ClusterRole', rules],
  ['Role', '$hco', RULES, 'ClusterRole', rules],
  ['Role', '$autopilot', RULES, 'Role', rules],
  [
    'ClusterRoleBinding',
    undefined,
    'roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }\n',
    'ClusterRole',
    bind('clusterroles', 'view'),
  ],
  [
    'RoleBinding',
    'elsewhere',
    'roleRef: { kind: Role, name: reader }\nsubjects: [{ kind: ServiceAccount, name: x, namespace: <%= facts.hco.namespace %> }]\n',
    'ClusterRole',
    bind('roles', 'reader'),
  ],
  [
    'RoleBinding',
    '$autopilot',
    'roleRef: { kind: ClusterRole, name: <%= object.name %> }\n',
    'Role',
    bind('clusterroles', 'one'),
  ],
]

for (const [kind, namespace, body, role, wanted] of grants) {
  t.test(
    `a ${kind} in ${namespace ?? 'no namespace'} gives the reconciler’s ${role} more`,
    async (t) => {
      t.strictSame(grantedIn(role, kind, body, namespace), wanted)
      const other = role === 'Role' ? 'ClusterRole' : 'Role'
      t.strictSame(grantedIn(other, kind, body, namespace), [])
    },
  )
}

t.test(
  'a role without rules, one that prints nothing, and a tombstone grant nothing',
  async (t) => {
    t.strictSame(grantedIn('ClusterRole', 'ClusterRole', ''), [])
    for (const kind of ['ClusterRole', 'ClusterRoleBinding'] as const) {
      const files = { [FILE]: '# nothing yet\n' }
      t.same(mistakesIn({ assets: [grantEntry(kind)] }, files), [])
    }
    const { name, group, description, object } = grantEntry('ClusterRole')
    const buried = checkedCatalog(
      { assets: [], tombstones: [{ name, group, description, object }] },
      {},
    )
    const rulesOn = accounts(buried, NAMESPACE).filter(
      ({ metadata }) => metadata.name === BASELINE.reconcilerRole,
    )
    t.notMatch(JSON.stringify(rulesOn), '"bind"')
  },
)

const HEADLINES = HEAD.split('\n').length

const wrong: readonly (readonly [what: string, kind: Kind, body: string, mistake: string])[] = [
  [
    'a role that a fact changes, in a branch too',
    'ClusterRole',
    '<%_ if (optional(facts.hardware, "/gpuPresent", false)) { -%>\nrules: []\n<%_ } -%>\n',
    `catalog.yaml:1: asset one: ${FILE}:${HEADLINES}: facts.hardware is not the same everywhere, and what is granted must be, since our own roles are made from it: write it out`,
  ],
  [
    'a role with a rule for the namespace of the HyperConverged',
    'ClusterRole',
    'rules: [{ apiGroups: [""], resources: [namespaces], resourceNames: [<%= facts.hco.namespace %>], verbs: [get] }]\n',
    `catalog.yaml:1: asset one: ${FILE}:${HEADLINES}: facts.hco is not the same everywhere, and what is granted must be, since our own roles are made from it: write it out`,
  ],
  [
    'a binding of what only facts name',
    'ClusterRoleBinding',
    'roleRef: { kind: ClusterRole, name: <%= facts.hco.namespace %> }\n',
    'catalog.yaml:1: asset one: has no roleRef with kind ClusterRole or Role, and a name: write it out',
  ],
  [
    'a role that is made of others',
    'ClusterRole',
    'aggregationRule: { clusterRoleSelectors: [] }\n',
    'catalog.yaml:1: asset one: has an aggregationRule, which only a cluster admin may write: list its rules',
  ],
  ...[
    'rules: none\n',
    'rules: [get]\n',
    'rules: [{ verbs: get }]\n',
    'rules: [{ verbs: [1] }]\n',
    'rules: [{ verb: [get] }]\n',
  ].map(
    (body) =>
      [
        `a role with ${body.trim()}`,
        'ClusterRole',
        body,
        'catalog.yaml:1: asset one: has rules of another form than the API: a list of maps with lists of texts under apiGroups, resources, resourceNames, nonResourceURLs, verbs',
      ] as const,
  ),
  ...[
    '',
    'roleRef: view\n',
    'roleRef: { name: view }\n',
    'roleRef: { kind: Role }\n',
    'roleRef: { kind: User, name: x }\n',
  ].map(
    (body) =>
      [
        `a binding with ${body.trim() || 'no role'}`,
        'ClusterRoleBinding',
        body,
        'catalog.yaml:1: asset one: has no roleRef with kind ClusterRole or Role, and a name: write it out',
      ] as const,
  ),
  [
    'a role whose template fails',
    'ClusterRole',
    'rules: [{ verbs: [<%= [][0] %>] }]\n',
    `catalog.yaml:1: asset one: ${FILE}:${HEADLINES}: only strings, numbers and booleans can be printed, not undefined`,
  ],
]

for (const [what, kind, body, mistake] of wrong) {
  t.test(`refuses ${what}`, async (t) => {
    t.same(mistakesIn({ assets: [grantEntry(kind)] }, templateOf(body)), [mistake])
  })
}
