import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { alerts } from '../../unit/assets/prometheus/alerts.ts'
import { autopilotCluster, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HYPERCONVERGED } from '../harness/objects.ts'

const ROOT = join(import.meta.dirname, '../../..')

// No node runs pods here: what needs one, and what has a word in capitals to be filled in, cannot be tried.
const NEEDS_MORE = /\b(curl|port-forward|top|[A-Z]{3,})\b/

/** What people are told to paste, and where. */
interface Advice {
  readonly by: string
  readonly command: string
}

const fromRunbooks: readonly Advice[] = globSync('docs/runbooks/*.md', { cwd: ROOT })
  .sort()
  .flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
      .flatMap(([, block = '']) => block.trim().split('\n'))
      .map((command) => ({ by: basename(page), command })),
  )

// As Prometheus fills it in for the HyperConverged.
const OBJECT =
  '{{ $labels.kind | toLower }} {{ with $labels.namespace }}-n {{ . }} {{ end }}{{ $labels.name }}'
const fromAlerts: readonly Advice[] = alerts.map(
  ({ alert, annotations: { description = '' } }) => ({
    by: alert,
    command: description
      .replace(/^.*(?=kubectl )/, '')
      .replace(OBJECT, HYPERCONVERGED.join(' '))
      .replace('{{ $labels.reason }}', 'InvalidSetting'),
  }),
)

t.test('the commands of the alerts and of their runbooks are ones that work', async (t) => {
  const cluster = await autopilotCluster(t)
  const alice = cluster.person('alice')
  const advice = [...fromAlerts, ...fromRunbooks].filter(({ command }) => !NEEDS_MORE.test(command))
  t.ok(advice.length > 20)
  for (const { by, command } of advice) {
    await t.test(`${by}: ${command}`, async (t) => {
      const here = command.replace(/-n (virt-platform-)?autopilot /, `-n ${NAMESPACE} `)
      t.match(await alice.shell(here), { code: 0 })
    })
  }
})
