import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { alerts } from '../unit/assets/prometheus/alerts.ts'
import { type AlertCase, CASES, type Firing } from './cases.ts'
import { promtoolIn } from './promtool.ts'

const folder = t.testdir()
const rules = { groups: [{ name: 'virt-platform-autopilot', rules: alerts }] }
// JSON is YAML too.
writeFileSync(join(folder, 'rules.yml'), JSON.stringify(rules))
const promtool = await promtoolIn(folder)
const named = new Map(alerts.map((rule) => [rule.alert, rule]))

t.test('Prometheus takes the rules', async (t) => {
  const { isGood, output } = await promtool('check', 'rules', '--lint=all', 'rules.yml')
  t.ok(isGood, output)
  t.match(output, `${alerts.length} rules found`)
})

for (const one of CASES) {
  t.test(one.name, async (t) => {
    const file = `${CASES.indexOf(one)}.yml`
    writeFileSync(join(folder, file), JSON.stringify(testOf(one)))
    const { isGood, output } = await promtool('test', 'rules', file)
    t.ok(isGood, output)
  })
}

t.test('every alert is seen to fire, and to be silent', async (t) => {
  const moments = CASES.flatMap((one) => Object.values(one.moments))
  for (const name of named.keys()) {
    const fires = moments.filter((firing) => firing.some(({ alert }) => alert === name)).length
    t.ok(fires > 0, `${name} fires`)
    t.ok(fires < moments.length, `${name} is silent`)
  }
})

t.test('promtool finds what is wrong', async (t) => {
  const [first] = CASES
  const wrong = { name: 'wrong', series: {}, moments: { '1h': CASES.flatMap(firstFiring) } }
  t.ok(first && wrong.moments['1h'].length > 0)
  writeFileSync(join(folder, 'wrong.yml'), JSON.stringify(testOf(wrong)))
  t.match(await promtool('test', 'rules', 'wrong.yml'), { isGood: false, output: /FAILED/ })
})

function firstFiring({ moments }: AlertCase): readonly Firing[] {
  return Object.values(moments).flat().slice(0, 1)
}

/** A case as promtool reads it; an alert that is not said to fire must not. */
function testOf({ name, series, moments }: AlertCase) {
  const input = Object.entries(series).map(([one, values]) => ({ series: one, values }))
  const expected = Object.entries(moments).flatMap(([at, firing]) =>
    [...named.keys()].map((alertname) => ({
      eval_time: at,
      alertname,
      exp_alerts: firing.filter(({ alert }) => alert === alertname).map(expectation),
    })),
  )
  return {
    rule_files: ['rules.yml'],
    evaluation_interval: '30s',
    tests: [{ name, interval: '30s', input_series: input, alert_rule_test: expected }],
  }
}

function expectation({ alert, labels, summary, description }: Firing) {
  const { annotations, labels: own } = named.get(alert) ?? {}
  return {
    exp_labels: { ...own, ...labels },
    exp_annotations: { summary, description, runbook: annotations?.runbook },
  }
}
