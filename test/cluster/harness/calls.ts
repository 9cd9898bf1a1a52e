import type { TestCluster } from './fixture.ts'

/** What the API server counts of its calls to our webhooks. */
export interface Calls {
  /** Calls, whatever came of them. */
  readonly asked: number
  /** Calls that failed and were passed over, as the failure policy says. */
  readonly failedOpen: number
  /** Calls that failed, and had their write refused. */
  readonly failedClosed: number
  /** Everything that is counted of them, as it is served: by name and labels. */
  readonly series: Readonly<Record<string, string>>
}

const PREFIX = 'apiserver_admission_webhook_'
const OURS = new RegExp(`^(${PREFIX}\\w+\\{.*\\.platform\\.kubevirt\\.io".*\\}) (\\S+)$`, 'gm')

/** Reads in the API server's metrics what became so far of its calls to our webhooks. */
export async function callsOf({ admin }: Pick<TestCluster, 'admin'>): Promise<Calls> {
  const { body } = await admin<string>('GET', '/metrics')
  const found = [...body.matchAll(OURS)].map(([, name = '', value = '']) => [name, value] as const)
  const sum = (metric: string, label = '') =>
    found
      .filter(([name]) => name.startsWith(`${PREFIX}${metric}{`) && name.includes(label))
      .reduce((total, [, value]) => total + Number(value), 0)
  return {
    asked: sum('request_total'),
    failedOpen: sum('fail_open_count'),
    failedClosed: sum('rejection_count', '"calling_webhook_error"'),
    series: Object.fromEntries(found),
  }
}
