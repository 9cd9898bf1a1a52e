import t from 'tap'
import {
  hasForeignHealthCheck,
  namespaceOfTemplate,
} from '../../../../src/shared/baseline/facts/remediation.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'

const ROLE = 'node-role.kubernetes.io/'
const WORKER = { [`${ROLE}worker`]: '', 'kubernetes.io/os': 'linux' }
const MASTER = { [`${ROLE}master`]: '', [`${ROLE}control-plane`]: '' }
const INFRA = { ...WORKER, [`${ROLE}infra`]: '' }
const SEPARATE = [MASTER, MASTER, MASTER, WORKER, WORKER]
const COMPACT = Array(3).fill({ ...MASTER, ...WORKER })

const check = (selector?: object, name = 'nhc-theirs'): KubeObject => ({
  apiVersion: 'remediation.medik8s.io/v1alpha1',
  kind: 'NodeHealthCheck',
  metadata: { name },
  spec: { ...(selector && { selector }) },
})
const role = (operator: string, key: string, ...values: readonly string[]) => ({
  key: `${ROLE}${key}`,
  operator,
  ...(values.length > 0 && { values }),
})
const all = (...matchExpressions: readonly object[]) => ({ matchExpressions })

const cases: readonly (readonly [
  what: string,
  check: KubeObject,
  nodes: readonly Readonly<Record<string, string>>[],
  isForeign: boolean,
])[] = [
  ['of workers', check(all(role('Exists', 'worker'))), SEPARATE, true],
  ['of what is no master', check(all(role('DoesNotExist', 'master'))), SEPARATE, true],
  ['of masters, where these are no workers', check(all(role('Exists', 'master'))), SEPARATE, false],
  ['of masters, where these are workers', check(all(role('Exists', 'master'))), COMPACT, true],
  [
    'of workers that are no masters, where all are',
    check(all(role('DoesNotExist', 'control-plane'), role('Exists', 'worker'))),
    COMPACT,
    false,
  ],
  [
    'of infrastructure nodes that there are',
    check({ matchLabels: { [`${ROLE}infra`]: '' } }),
    [WORKER, INFRA],
    true,
  ],
  [
    'of infrastructure nodes that there are not',
    check({ matchLabels: { [`${ROLE}infra`]: '' } }),
    [WORKER],
    false,
  ],
  ['of a role with another value', check(all(role('In', 'worker', 'gold'))), SEPARATE, false],
  ['of a role without a value', check(all(role('NotIn', 'worker', ''))), SEPARATE, false],
  ['of a role whose value is another', check(all(role('NotIn', 'worker', 'gold'))), SEPARATE, true],
  ['of a label that is not known', check({ matchLabels: { rack: '7' } }), SEPARATE, true],
  [
    'without a label that is not known',
    check(all({ key: 'a', operator: 'NotIn' })),
    SEPARATE,
    true,
  ],
  ['by an operator that is not known', check(all(role('Near', 'infra'))), SEPARATE, true],
  ['of all nodes', check({}), SEPARATE, true],
  ['that says nothing of nodes', check(), SEPARATE, true],
  ['that is ours', check({}, 'ours'), SEPARATE, false],
  ['where there are no workers', check({}), [MASTER], false],
  ['where there are no nodes', check({}), [], false],
]

for (const [what, one, nodeLabels, isForeign] of cases) {
  t.test(`${isForeign ? 'yields to' : 'does not mind'} a check ${what}`, async (t) => {
    const sources = { nodeLabels, nodeHealthChecks: [one], ownHealthChecks: ['ours'] }
    t.equal(hasForeignHealthCheck(sources), isForeign)
  })
}

t.test('takes the template that there is, else the default, else the first', async (t) => {
  const template = (namespace: string, label?: string): KubeObject => ({
    apiVersion: 'self-node-remediation.medik8s.io/v1alpha1',
    kind: 'SelfNodeRemediationTemplate',
    metadata: {
      name: 'self-node-remediation-automatic-strategy-template',
      namespace,
      ...(label && { labels: { 'remediation.medik8s.io/default-template': label } }),
    },
  })
  t.equal(namespaceOfTemplate([]), '')
  t.equal(namespaceOfTemplate([template('b')]), 'b')
  t.equal(namespaceOfTemplate([template('b'), template('a')]), 'a')
  t.equal(namespaceOfTemplate([template('a', 'false'), template('b', 'true')]), 'b')
  t.equal(namespaceOfTemplate([template('c', 'true'), template('b', 'true'), template('a')]), 'b')
})
