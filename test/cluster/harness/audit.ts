import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Loose } from './autopilot-fixture.ts'
import type { TestCluster } from './fixture.ts'
import { OUR_ACCOUNTS } from './plane/audit-policy.ts'

/** Where a test's part of an audit log is: a control plane that files share has that of the others before it. */
type Audited = Pick<TestCluster, 'auditLog' | 'auditStart'>

/** Everything that our accounts asked of the API server in this test, oldest first. */
export const audited = (cluster: Audited): readonly Loose[] =>
  auditedOfAll(cluster).filter(({ user }) => OUR_ACCOUNTS.includes(user.username))

/** Likewise, and what the policy writes down of others. */
export const auditedOfAll = ({ auditLog, auditStart }: Audited): readonly Loose[] => {
  const log = openSync(auditLog, 'r')
  const part = Buffer.alloc(fstatSync(log).size - auditStart)
  readSync(log, part, 0, part.length, auditStart)
  closeSync(log)
  return jsonLines(part.toString())
}

/** A request in one line: what, on what, and what came of it. */
export const asLine = ({ verb, requestURI, responseStatus }: Loose): string =>
  `${verb} ${requestURI} ${responseStatus?.code}`

const isWatch = ({ verb }: Loose) => verb === 'watch'
const isOfLease = ({ objectRef }: Loose) => objectRef?.resource === 'leases'

/** What is neither a watch nor of the Lease. */
export const isRequest = (entry: Loose): boolean => !isWatch(entry) && !isOfLease(entry)

/** What changed something: neither a dry run nor an event, and not refused. */
export const isWrite = (entry: Loose): boolean =>
  isRequest(entry) &&
  ['create', 'update', 'patch', 'delete'].includes(entry.verb) &&
  !/^\/apis\/(authentication|events)\.k8s\.io/.test(entry.requestURI) &&
  !entry.requestURI.includes('dryRun=All') &&
  entry.responseStatus?.code < 300

/** What a file holds that somebody still writes to, one value a line: the last line may be half written. */
export const jsonLines = (text: string): readonly Loose[] =>
  text
    .split('\n')
    .slice(0, -1)
    .filter(Boolean)
    .map((line) => JSON.parse(line))
