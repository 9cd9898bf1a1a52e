import t from 'tap'
import {
  foreignHealthChecks,
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
  of: '' | 'workers' | 'masters' | 'both',
])[] = [
  ['of workers', check(all(role('Exists', 'worker'))), SEPARATE, 'workers'],
  ['of what is no master', check(all(role('DoesNotExist', 'master'))), SEPARATE, 'workers'],
  ['of workers, where all are masters', check(all(role('Exists', 'worker'))), COMPACT, 'masters'],
  ['of masters', check(all(role('Exists', 'master'))), SEPARATE, 'masters'],
  ['of masters, where these are workers', check(all(role('Exists', 'master'))), COMPACT, 'masters'],
  [
    'of workers that are no masters, where all are',
    check(all(role('DoesNotExist', 'control-plane'), role('Exists', 'worker'))),
    COMPACT,
    '',
  ],
  [
    'of infrastructure nodes that there are',
    check({ matchLabels: { [`${ROLE}infra`]: '' } }),
    [WORKER, INFRA],
    'workers',
  ],
  [
    'of infrastructure nodes that there are not',
    check({ matchLabels: { [`${ROLE}infra`]: '' } }),
    [WORKER],
    '',
  ],
  ['of a role with another value', check(all(role('In', 'worker', 'gold'))), SEPARATE, ''],
  ['of a role without a value', check(all(role('NotIn', 'worker', ''))), SEPARATE, 'masters'],
  [
    'of a role whose value is another',
    check(all(role('NotIn', 'worker', 'gold'))),
    SEPARATE,
    'both',
  ],
  ['of a label that is not known', check({ matchLabels: { rack: '7' } }), SEPARATE, 'both'],
  [
    'without a label that is not known',
    check(all({ key: 'a', operator: 'NotIn' })),
    SEPARATE,
    'both',
  ],
  ['by an operator that is not known', check(all(role('Near', 'infra'))), SEPARATE, 'both'],
  ['of all nodes', check({}), SEPARATE, 'both'],
  ['that says nothing of nodes', check(), SEPARATE, 'both'],
  ['that is ours', check({}, 'ours'), SEPARATE, ''],
  ['where there are no workers', check({}), [MASTER], 'masters'],
  ['where there are no nodes', check({}), [], ''],
]

for (const [what, one, nodeLabels, of] of cases) {
  t.test(`${of ? `has ours of ${of} yield to` : 'does not mind'} a check ${what}`, async (t) => {
    const sources = { nodeLabels, nodeHealthChecks: [one], ownHealthChecks: ['ours'] }
    t.same(foreignHealthChecks(sources), {
      foreignNodeHealthCheck: of === 'workers' || of === 'both',
      foreignMasterNodeHealthCheck: of === 'masters' || of === 'both',
    })
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
