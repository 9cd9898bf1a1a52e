import { readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { BASELINE } from '../../src/shared/baseline/names.ts'
import { accountUser } from '../../src/shared/engine/identity.ts'
import { NAMESPACE } from '../../test/cluster/harness/program.ts'

/** Makes the API server write down what the reconciler asks of it, and nothing else. */
export const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'Metadata', users: [accountUser(NAMESPACE, BASELINE.reconcilerAccount)] },
    { level: 'None' },
  ],
}

/** A request of the reconciler. */
interface AuditedRequest {
  readonly verb: string
  readonly requestURI: string
  readonly objectRef?: { readonly resource: string; readonly name?: string }
  readonly stage: string
  /** When it was answered. */
  readonly stageTimestamp: string
}

type Kind = 'watches' | 'leases' | 'others'

/** The audit log of the benchmark's API server. */
export type Audit = ReturnType<typeof createAudit>

const QUIET_MS = 2_000

export function createAudit(file: string) {
  /** Where the log ends now. */
  const mark = () => statSync(file).size
  /** What was asked after a mark. The last line may not be complete yet. */
  const since = (from: number) =>
    requestsIn(String(readFileSync(file).subarray(from)).split('\n').slice(0, -1))
  /** Waits until the reconciler has asked nothing for a while, watches and Lease aside. */
  const untilQuiet = async (): Promise<void> => {
    const before = mark()
    await sleep(QUIET_MS)
    if (since(before).others.length > 0) await untilQuiet()
  }
  return { mark, since, untilQuiet }
}

// A watch counts when it begins, all others when they are answered.
function requestsIn(lines: readonly string[]): Record<Kind, readonly AuditedRequest[]> {
  const kindOf = ({ verb, objectRef }: AuditedRequest): Kind =>
    verb === 'watch' ? 'watches' : objectRef?.resource === 'leases' ? 'leases' : 'others'
  const requests = lines
    .map((line) => JSON.parse(line) as AuditedRequest)
    .filter(({ verb, stage }) => (verb === 'watch') === (stage === 'ResponseStarted'))
  return { watches: [], leases: [], others: [], ...Object.groupBy(requests, kindOf) }
}
