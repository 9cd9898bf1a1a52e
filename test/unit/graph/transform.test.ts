import t from 'tap'
import { enrolment, isEnrollable, reconcilerAccount } from '../../../src/shared/graph/roles.ts'
import {
  accountOf,
  intervalMs,
  isOrphaning,
  type Transform,
} from '../../../src/shared/graph/transform.ts'

const transform = (spec: object = {}, metadata: object = {}) =>
  ({
    apiVersion: 'platform.pequod.io/v1alpha1',
    kind: 'Transform',
    metadata: { name: 'a', namespace: 'shop', ...metadata },
    spec: { cueRef: { type: 'inline', ref: 'x' }, input: {}, ...spec },
  }) as Transform

t.test('how often to look for drift', (t) => {
  const rows: readonly (readonly [string | undefined, number])[] = [
    [undefined, 600_000],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1ms', 60_000],
    ['999h', 86_400_000],
  ]
  for (const [interval, ms] of rows)
    t.equal(intervalMs(transform(interval === undefined ? {} : { interval })), ms, `${interval}`)
  t.end()
})

t.test('by whose rights', (t) => {
  t.same(accountOf(transform()), { namespace: 'shop', name: 'transforms' })
  t.same(accountOf(transform({ serviceAccountName: 'web' })), { namespace: 'shop', name: 'web' })
  t.end()
})

t.test('what is left when it goes', (t) => {
  t.equal(isOrphaning(transform()), false)
  t.equal(isOrphaning(transform({ deletionPolicy: 'Orphan' })), true)
  t.equal(isOrphaning(transform({}, { finalizers: ['orphan'] })), true, '--cascade=orphan')
  t.end()
})

t.test('which namespaces are enrolled', (t) => {
  for (const name of [
    'kube-system',
    'openshift',
    'openshift-cnv',
    'virt-platform-autopilot',
    'ours',
  ])
    t.equal(isEnrollable(name, 'ours'), false, name)
  for (const name of ['shop', 'kubevirt', 'openshifty'])
    t.equal(isEnrollable(name, 'ours'), true, name)
  t.end()
})

t.test('no role of ours lets anybody be who he likes', (t) => {
  const rules = [...reconcilerAccount('ours'), ...enrolment('shop', 'ours')].flatMap(
    ({ rules: own }) => (own ?? []) as readonly { verbs: string[]; resourceNames?: string[] }[],
  )
  t.ok(rules.length > 5)
  for (const { verbs, resourceNames } of rules) {
    t.notOk(verbs.includes('*'))
    if (verbs.includes('impersonate')) t.same(resourceNames, ['transforms'])
  }
  t.end()
})
