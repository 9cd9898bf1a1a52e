import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { baselineWebhooks } from '../../../../src/shared/baseline/generated/webhook-rules.ts'
import { catalog, factsWith } from '../../baseline/facts.ts'
import { alerts } from './alerts.ts'
import { readExpression } from './expression.ts'
import { knownMetrics } from './metric-labels.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const metrics = knownMetrics()

/** What Prometheus fills in from the labels of what an expression yields. */
const labelsIn = (texts: readonly string[]) => [
  ...new Set(
    texts.flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)].map(([, x = '']) => x)),
  ),
]

const EXPECTED: readonly (readonly [alert: string, severity: string, wait: string])[] = [
  ['VirtPlatformSyncFailed', 'critical', '15m'],
  ['VirtPlatformThrashingDetected', 'warning', '1m'],
  ['VirtPlatformStandingBy', 'warning', '5m'],
  ['VirtPlatformDependencyMissing', 'warning', '5m'],
  ['VirtPlatformTombstoneStuck', 'warning', '30m'],
  ['VirtPlatformWebhookDown', 'warning', '5m'],
  ['VirtPlatformReconcilerDown', 'warning', '5m'],
  ['VirtPlatformAdmissionErrors', 'warning', '5m'],
  ['VirtPlatformAdmissionSlow', 'warning', '10m'],
  ['VirtPlatformCertificateExpiring', 'warning', '1h'],
  ['VirtPlatformDisruptionPending', 'info', '15m'],
]

t.test('the alerts are these, each once, with severity and time', async (t) => {
  t.same(
    alerts.map((rule) => [rule.alert, rule.labels.severity, rule.for]),
    EXPECTED,
  )
})

for (const { alert, expr, labels, annotations } of alerts) {
  t.test(`${alert} is on metrics and labels that there are`, async (t) => {
    const read = readExpression(expr, metrics)
    t.same(read.mistakes, [])
    const named = labelsIn(Object.values(annotations))
    t.same(
      named.filter((label) => !read.labels.includes(label)),
      [],
      'every label in its words is a label of what it fires for',
    )
  })

  t.test(`${alert} says what happened, what to do, and where to read on`, async (t) => {
    const { summary = '', description = '', runbook = '', ...others } = annotations
    t.match(summary, /^[^\n]+\.$/)
    t.match(description, /: kubectl [a-z]+ [^\n]+$/)
    t.same(others, {})
    t.equal(runbook, `docs/runbooks/${alert}.md`)
    t.match(readFileSync(join(ROOT, runbook), 'utf8'), new RegExp(`^# ${alert}\n`))
    t.match(labels, {
      operator_health_impact: /^(critical|warning|none)$/,
      kubernetes_operator_part_of: 'kubevirt',
      kubernetes_operator_component: 'virt-platform-autopilot',
    })
  })
}

t.test('an object is named with its namespace, which not every object has', async (t) => {
  const named = alerts.filter(({ annotations: { summary = '' } }) =>
    summary.includes('$labels.name'),
  )
  t.equal(named.length, 4)
  for (const { annotations } of named)
    for (const text of [annotations.summary, annotations.description])
      t.match(
        text,
        '{{ $labels.kind }} {{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.name }}',
      )
})

t.test('no runbook is for an alert that there is not', async (t) => {
  const pages = readdirSync(join(ROOT, 'docs/runbooks')).sort()
  t.same(pages, alerts.map(({ alert }) => `${alert}.md`).sort())
})

t.test('what is asked of the API server is about our webhooks, and no other', async (t) => {
  const names = baselineWebhooks({
    catalog,
    facts: factsWith(),
    customResources: new Set(),
    endpoint: { url: 'https://127.0.0.1' },
    timeoutS: 1,
    trust: { bundle: '' },
    failurePolicy: 'Ignore',
    trustedUser: 'reconciler',
    owner: undefined,
  }).flatMap(({ webhooks }) => (webhooks as readonly { name: string }[]).map(({ name }) => name))
  const selectors = new Set(
    alerts.flatMap(({ expr }) => expr.match(/apiserver_\w+\{[^}]*\}/g) ?? []),
  )
  t.equal(selectors.size, 3)
  for (const selector of selectors) {
    const [, pattern = ''] = /[{ ]name=~"([^"]+)"/.exec(selector) ?? []
    const isOurs = new RegExp(`^(?:${pattern})$`)
    for (const name of names) t.match(name, isOurs)
    t.notMatch('mutate-platform.kubevirt.io', isOurs)
  }
})

const missed = [
  [
    'VirtPlatformWebhookDown',
    'virt_platform_webhook_certificate_expiry_timestamp_seconds',
    'virt_platform_activation_info',
  ],
  [
    'VirtPlatformReconcilerDown',
    'virt_platform_leader',
    'virt_platform_webhook_certificate_expiry_timestamp_seconds',
  ],
] as const

for (const [name, ...signs] of missed) {
  t.test(`${name} misses nobody of whom nothing was seen for a day`, async (t) => {
    const { expr = '' } = alerts.find(({ alert }) => alert === name) ?? {}
    const [, seen = '', off = ''] =
      /^absent\([^\n]*\)\nand on \(\) \(([\s\S]*)\)\nunless on \(\) \((.*)\)$/.exec(expr) ?? []
    const asked = [...seen.matchAll(/(\w+)\((\w+)\[1d\]\)/g)].map(([, ...call]) => call)
    t.same(
      asked,
      signs.map((sign) => ['present_over_time', sign]),
    )
    t.same(
      [...off.matchAll(/\{([^}]*)\}\)\[1d:1m\]/g)].map(([, mode]) => mode),
      ['mode="off"', 'mode!="off"'],
      'when it was last told to be off, against when it was last told anything else',
    )
  })
}

const COMPLIANCE = 'virt_platform_compliance_status'

const mistaken: readonly (readonly [expression: string, mistake: string])[] = [
  [`${COMPLIANCE} === 0`, 'no PromQL at character'],
  [`max by (kind (${COMPLIANCE})`, 'no PromQL at character'],
  ['virt_platform_complience_status == 0', 'nobody exports the metric virt_platform_complience'],
  ['rate(virt_platform_admission_duration_seconds[5m])', 'nobody exports the metric'],
  [`${COMPLIANCE}{resource="a"}`, `no label resource in ${COMPLIANCE}`],
  [`max by (kind, type) (${COMPLIANCE})`, 'no label type in max by'],
  [`sum by (kind) (sum by (name) (${COMPLIANCE}))`, 'no label kind in sum by (kind)'],
  [`${COMPLIANCE} unless on (mode) virt_platform_leader`, 'no label mode in on (mode)'],
  [
    'histogram_quantile(0.9, sum(rate(virt_platform_admission_duration_seconds_bucket[5m])))',
    'no label le in histogram_quantile',
  ],
]

for (const [expression, mistake] of mistaken) {
  t.test(`the check finds what is wrong with ${expression}`, async (t) => {
    const { mistakes } = readExpression(expression, metrics)
    t.ok(
      mistakes.some((found) => found.includes(mistake)),
      mistakes.join(),
    )
  })
}

const yielding: readonly (readonly [expression: string, labels: readonly string[]])[] = [
  [`max by (kind, name) (${COMPLIANCE}) == 0`, ['kind', 'name']],
  ['absent(up > time())', []],
  ['min by (pod) (up offset 5m) == 1', ['pod']],
  [`sum by (kind) (${COMPLIANCE}) or sum(${COMPLIANCE})`, []],
  [`sum by (kind) (${COMPLIANCE}) unless on () virt_platform_leader`, ['kind']],
  ['min by (pod) (up) - time() < 7 * 86400', ['pod']],
  [`max by (kind) (max_over_time(timestamp(${COMPLIANCE})[1d:1m])) > 0`, ['kind']],
  [`present_over_time(${COMPLIANCE}[1d]) or vector(0)`, []],
]

for (const [expression, labels] of yielding) {
  t.test(`the check knows the labels of ${expression}`, async (t) => {
    t.same(readExpression(expression, metrics), { labels, mistakes: [] })
  })
}

t.test('the check takes nothing for granted that it does not know', async (t) => {
  for (const expression of [
    `label_replace(${COMPLIANCE}, "a", "b", "c", "d")`,
    `sum without (kind) (${COMPLIANCE})`,
    `${COMPLIANCE} * on (kind) group_left () ${COMPLIANCE}`,
    `${COMPLIANCE} @ 5`,
  ])
    t.throws(() => readExpression(expression, metrics), /cannot tell the labels of|is read:/)
})
