import type { TestCluster } from './fixture.ts'

/** What the API server counts of its calls to our webhooks. */
export interface Calls {
  /** Calls, whatever came of them. */
  readonly asked: number
  /** Calls that failed and were passed over, as the failure policy says. */
  readonly failedOpen: number
  /** Calls that failed, and had their write refused. */
  readonly failedClosed: number
  /** Everything that is counted of them, by name and labels. */
  readonly series: Counts
}

/** What is counted, by name and labels. */
export type Counts = Readonly<Record<string, number>>

const PREFIX = 'apiserver_admission_webhook_'
const OURS = new RegExp(`^(${PREFIX}\\w+\\{.*\\.platform\\.kubevirt\\.io".*\\}) (\\S+)$`, 'gm')

/** Reads in the API server's metrics what became in this test so far of its calls to our webhooks. */
export async function callsOf({
  admin,
  callsBefore,
}: Pick<TestCluster, 'admin' | 'callsBefore'>): Promise<Calls> {
  const found = Object.entries(await countsOf({ admin }))
    .map(([name, count]) => [name, count - (callsBefore[name] ?? 0)] as const)
    .filter(([, count]) => count > 0)
  const sum = (metric: string, label = '') =>
    found
      .filter(([name]) => name.startsWith(`${PREFIX}${metric}{`) && name.includes(label))
      .reduce((total, [, count]) => total + count, 0)
  return {
    asked: sum('request_total'),
    failedOpen: sum('fail_open_count'),
    failedClosed: sum('rejection_count', '"calling_webhook_error"'),
    series: Object.fromEntries(found),
  }
}

/** All that the API server has counted of its calls to our webhooks since it started. */
export async function countsOf({ admin }: Pick<TestCluster, 'admin'>): Promise<Counts> {
  const { body } = await admin<string>('GET', '/metrics')
  return Object.fromEntries(
    [...body.matchAll(OURS)].map(([, name = '', count]) => [name, Number(count)]),
  )
}
