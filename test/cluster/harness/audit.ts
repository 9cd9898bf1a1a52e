import { readFileSync } from 'node:fs'
import { type Loose, NAMESPACE } from './autopilot-fixture.ts'

/** Makes the API server write down what our accounts in a namespace ask of it, once it is answered. */
export const auditIn = (namespace: string) => ({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    {
      level: 'Metadata',
      users: ['reconciler', 'webhook'].map(
        (name) => `system:serviceaccount:${namespace}:virt-platform-autopilot-${name}`,
      ),
    },
    { level: 'None' },
  ],
})

/** Likewise, in the namespace of the tests. */
export const AUDIT = auditIn(NAMESPACE)

/** Everything that our accounts asked of the API server, oldest first. */
export const audited = ({ auditLog }: { readonly auditLog: string }): readonly Loose[] =>
  jsonLines(readFileSync(auditLog, 'utf8'))

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
