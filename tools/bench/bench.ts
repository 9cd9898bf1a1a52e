import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Client, connect } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import {
  type AutopilotCluster,
  autopilotCluster,
} from '../../test/cluster/harness/autopilot-fixture.ts'
import { manifestsOf } from '../../test/cluster/harness/manifests.ts'
import { MUTATING } from '../../test/cluster/harness/objects.ts'
import { ownProgram, type Program } from '../../test/cluster/harness/program.ts'
import { untilReady } from '../dev/readiness.ts'
import { AUDIT_POLICY, type Audit, createAudit } from './audit.ts'
import type { Effort } from './effort.ts'

/** The product at work on a cluster, to be measured. */
export interface Bench extends AutopilotCluster {
  /** The administrator's. */
  readonly client: Client
  readonly program: Program
  /** The HyperConverged as it was before the product came. */
  readonly hco: KubeObject
  readonly audit: Audit
  readonly effort: Effort
  /** Waits until everything is in sync and writes are judged. */
  readonly untilReady: () => Promise<void>
  /** The certificates by which the API server knows the webhook. */
  readonly authority: () => Promise<string>
}

/** How the product is started, and how much of it is measured. */
export interface BenchOptions {
  readonly effort: Effort
  /** Rejects when nothing is wanted any more: whatever runs is then ended in order. */
  readonly interrupted: Promise<never>
  /** By default the bundle of this tree. */
  readonly program?: Program
  readonly reconcilerFlags?: readonly string[]
}

/** Often enough that an idle minute has several. */
export const RESYNC = '10s'
// An object is put back five times a minute, and no more: who measures it edits it more often.
const NO_THROTTLE = '--heal-limit=1000000'
/** How the reconciler runs unless a measurement says otherwise. */
export const DEFAULT_FLAGS = [`--resync=${RESYNC}`, NO_THROTTLE]

const CONTAINERFILE = join(import.meta.dirname, '../image/Containerfile')

/** What the baseline's image sets for its processes: they are measured as they ship. What another system's sets comes after it. */
function imageEnv(): Record<string, string> {
  const [common = ''] = readFileSync(CONTAINERFILE, 'utf8').split(/^FROM runtime AS graph$/m)
  const settings = common.matchAll(/^ENV (\w+)=(\S+)$/gm)
  return Object.fromEntries([...settings].map(([, name = '', value = '']) => [name, value]))
}

/** Starts a cluster and the bundled product on it, does something, and ends all of it. */
export async function withBench<Result>(
  { effort, interrupted, program = ownProgram(), reconcilerFlags = DEFAULT_FLAGS }: BenchOptions,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const ends: (() => Promise<void>)[] = []
  const scope = {
    comment: (line: string) => console.error(line),
    teardown: (end: () => Promise<void>) => void ends.unshift(end),
  }
  try {
    const options = {
      auditPolicy: AUDIT_POLICY,
      isImpatient: true,
      program,
      reconcilerFlags,
      env: imageEnv(),
    }
    const cluster = await autopilotCluster(scope, options)
    const client = await connect(loadKubeconfig(cluster.kubeconfig))
    scope.teardown(client.close)
    const hco = manifestsOf({}).find(({ kind }) => kind === 'HyperConverged') as KubeObject
    const bench = Object.assign(cluster, {
      client,
      program,
      hco,
      audit: createAudit(cluster.auditLog),
      effort,
      untilReady: () => untilReady(cluster.autopilot, client, hco),
      async authority() {
        const { webhooks } = await cluster.read(MUTATING)
        return String(Buffer.from(webhooks[0].clientConfig.caBundle, 'base64'))
      },
    })
    return await Promise.race([work(bench), interrupted])
  } finally {
    for (const end of ends) await end()
  }
}
