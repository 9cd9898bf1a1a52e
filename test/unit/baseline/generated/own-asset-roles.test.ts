import t from 'tap'
import type { Rule } from '../../../../src/shared/api/roles.ts'
import type { Catalog } from '../../../../src/shared/baseline/catalog/catalog.ts'
import { ownAssetRoles } from '../../../../src/shared/baseline/generated/own-asset-roles.ts'
import { accounts } from '../../../../src/shared/baseline/generated/rbac.ts'
import { BASELINE } from '../../../../src/shared/baseline/names.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { assetNamed } from '../facts.ts'

const NAMESPACE = 'autopilot'

interface Granted extends KubeObject {
  readonly rules?: readonly Rule[]
  readonly roleRef?: Readonly<Record<string, string>>
  readonly subjects?: readonly { readonly name: string }[]
}

/** What objects allow an account, a line for each permission, with the namespace where it is of one. */
function permissions(objects: readonly Granted[], account: string): readonly string[] {
  const bindings = objects.filter(({ subjects = [] }) =>
    subjects.some((one) => one.name === account),
  )
  const roles = bindings.flatMap(({ roleRef }) =>
    objects.filter(
      ({ kind, metadata }) => kind === roleRef?.kind && metadata.name === roleRef.name,
    ),
  )
  const lines = roles.flatMap(({ metadata: { namespace = 'everywhere' }, rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = ['any'] }) =>
      verbs.flatMap((verb) =>
        resourceNames.map((name) => `${namespace}: ${verb} ${apiGroups}/${resources} ${name}`),
      ),
    ),
  )
  return [...new Set(lines)].sort()
}

const metallb = assetNamed('metallb')
const ownOf = (name: string, object: object, members = {}) => ({
  ...metallb,
  name,
  object: { ...metallb.object, name, ...object },
  ...members,
})
const SECRET = { group: '', versions: ['v1'], kind: 'Secret', resource: 'secrets' }

const THEIRS: Catalog = [
  ownOf('mine', {}, { prune: true }),
  ownOf('token', { ...SECRET, namespace: 'site' }),
  ownOf('here', { ...SECRET, namespace: NAMESPACE }),
  ownOf('gone', {}, { isTombstone: true }),
  { ...assetNamed('node-maintenance'), name: 'role' },
]
const OURS: Catalog = [assetNamed('swap-enable'), metallb, assetNamed('metrics-service')]
const roles = ownAssetRoles(THEIRS, NAMESPACE)

t.test('beside the roles of the accounts they are those of the whole catalog', async (t) => {
  const { reconcilerAccount } = BASELINE
  const whole = permissions(accounts([...OURS, ...THEIRS], NAMESPACE), reconcilerAccount)
  t.same(permissions([...accounts(OURS, NAMESPACE), ...roles], reconcilerAccount), whole)
  t.not(whole.length, permissions(accounts(OURS, NAMESPACE), reconcilerAccount).length)
})

t.test('they share no object with the roles of the accounts', async (t) => {
  const refOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`
  const refs = new Set(accounts(OURS, NAMESPACE).map(refOf))
  t.same(
    roles.map(refOf).filter((ref) => refs.has(ref)),
    [],
  )
})

t.test('whoever looks may read the objects and their namespaces, and no more', async (t) => {
  const follow = (of: string) => ['list', 'watch'].map((verb) => of.replace('READ', verb))
  const read = (of: string) => [of.replace('READ', 'get'), ...follow(of)]
  t.same(
    permissions(roles, `${BASELINE.name}-diff`),
    [
      ...read('autopilot: READ /secrets here'),
      ...['mine', 'gone'].flatMap((name) => read(`everywhere: READ metallb.io/metallbs ${name}`)),
      ...['autopilot', 'metallb-system', 'site'].flatMap((name) =>
        follow(`everywhere: READ /namespaces ${name}`),
      ),
      ...read('everywhere: READ /secrets token'),
      ...read(
        'everywhere: READ rbac.authorization.k8s.io/clusterroles virt-platform-node-maintenance',
      ),
    ].sort(),
  )
})
