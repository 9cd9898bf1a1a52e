import type { Autopilot } from '../../../tools/dev/autopilot.ts'
import type { TestCluster } from './fixture.ts'
import { until } from './until.ts'

/** An event, as far as tests look at it. */
export interface SeenEvent {
  readonly reason: string
  readonly note: string
  readonly regarding: { readonly kind: string; readonly name: string }
}

/** The sum of all series of a metric whose labels contain a text. */
export function sumOf(metrics: string, name: string, labels = ''): number {
  const isWanted = (line: string) =>
    (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(labels)
  const values = metrics.split('\n').filter(isWanted)
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** What the metrics of both processes are asked. */
export function createMetrics({ opsPorts }: Autopilot) {
  const metric = async (of: 'webhook' | 'reconciler', name: string, labels = '') => {
    const reply = await fetch(`http://127.0.0.1:${opsPorts[of]}/metrics`)
    return sumOf(await reply.text(), name, labels)
  }
  const compared = (name: string) =>
    metric('reconciler', 'virt_platform_reconcile_duration_seconds_count', `name="${name}"`)
  return {
    metric,
    judged: () => metric('webhook', 'virt_platform_admission_requests_total'),
    async untilCompared(name: string) {
      const before = await compared(name)
      await until(`${name} is compared again`, async () => (await compared(name)) >= before + 2)
    },
  }
}

/** What is asked of the events of a cluster. */
export function createEvents(cluster: TestCluster) {
  const events = async (reason: string) => {
    const { body } = await cluster.admin<{ items: SeenEvent[] }>(
      'GET',
      '/apis/events.k8s.io/v1/events',
    )
    return body.items.filter((event) => event.reason === reason)
  }
  return {
    events,
    untilEvent: (reason: string, note: RegExp) =>
      until(`event ${reason} with ${note}`, async () =>
        (await events(reason)).find((event) => note.test(event.note)),
      ),
  }
}
