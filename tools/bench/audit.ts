import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { RECONCILER_ACCOUNT } from '../../src/shared/baseline/names.ts'
import { accountUser } from '../../src/shared/engine/identity.ts'
import { NAMESPACE } from '../../test/cluster/program.ts'

/** Makes the API server write down what the reconciler asks of it, and nothing else. */
export const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'Metadata', users: [accountUser(NAMESPACE, RECONCILER_ACCOUNT)] },
    { level: 'None' },
  ],
}

/** A request of the reconciler. */
export interface AuditedRequest {
  readonly verb: string
  readonly requestURI: string
  readonly objectRef?: { readonly resource: string; readonly name?: string }
  /** When it was answered, in milliseconds since 1970. */
  readonly at: number
}

/** The requests of the reconciler, told apart. */
export interface Requests {
  readonly watches: readonly AuditedRequest[]
  readonly leases: readonly AuditedRequest[]
  readonly others: readonly AuditedRequest[]
}

/** The audit log of the benchmark's API server. */
export interface Audit {
  /** Where the log ends now. */
  readonly mark: () => number
  /** What was asked after a mark. */
  readonly since: (mark: number) => Requests
  /** Waits until the reconciler has asked nothing for a while, watches and Lease aside. */
  readonly untilQuiet: () => Promise<void>
}

const QUIET_MS = 2_000

export const createAudit = (file: string): Audit => {
  const mark = () => statSync(file).size
  const since = (from: number) => told(read(file, from))
  const untilQuiet = async (): Promise<void> => {
    const before = mark()
    await sleep(QUIET_MS)
    if (since(before).others.length > 0) await untilQuiet()
  }
  return { mark, since, untilQuiet }
}

function read(file: string, from: number): readonly string[] {
  const log = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(fstatSync(log).size - from)
    readSync(log, bytes, 0, bytes.length, from)
    // The last line may not be complete yet.
    return bytes.toString().split('\n').slice(0, -1)
  } finally {
    closeSync(log)
  }
}

interface Entry extends Omit<AuditedRequest, 'at'> {
  readonly stage: string
  readonly stageTimestamp: string
}

// A watch counts when it begins, all others when they are answered.
function told(lines: readonly string[]): Requests {
  const requests = lines
    .map((line) => JSON.parse(line) as Entry)
    .filter(({ verb, stage }) => (verb === 'watch') === (stage === 'ResponseStarted'))
    .map((entry) => ({ ...entry, at: Date.parse(entry.stageTimestamp) }))
  const isWatch = ({ verb }: AuditedRequest) => verb === 'watch'
  const isLease = ({ objectRef }: AuditedRequest) => objectRef?.resource === 'leases'
  return {
    watches: requests.filter(isWatch),
    leases: requests.filter((request) => !isWatch(request) && isLease(request)),
    others: requests.filter((request) => !isWatch(request) && !isLease(request)),
  }
}
