import { join } from 'node:path'
import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import { type Client, connect } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import { NAMESPACE, ownProgram, type Program } from '../../test/cluster/harness/program.ts'
import { type Binaries, findBinaries } from '../control-plane/build/binaries.ts'
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts'
import { loadDefinitions } from '../control-plane/definitions.ts'
import { install } from '../control-plane/install.ts'
import { loadManifests, type Manifest } from '../control-plane/manifests.ts'
import { type Autopilot, startAutopilot } from '../dev/autopilot.ts'
import { untilReady } from '../dev/readiness.ts'
import { AUDIT_POLICY, type Audit, createAudit } from './audit.ts'
import type { Effort } from './effort.ts'

/** The product at work on a cluster, to be measured. */
export interface Bench {
  readonly plane: ControlPlane
  /** The administrator's. */
  readonly client: Client
  readonly autopilot: Autopilot
  readonly catalog: Catalog
  /** The HyperConverged as it was before the product came. */
  readonly hco: Manifest
  readonly audit: Audit
  readonly effort: Effort
  /** Waits until everything is in sync and writes are judged. */
  readonly untilReady: () => Promise<void>
}

const ROOT = join(import.meta.dirname, '../..')
/** Often enough that an idle minute has several. */
export const RESYNC = '10s'
// An object is put back five times a minute, and no more: who measures it edits it more often.
const NO_THROTTLE = '--heal-limit=1000000'

/** How the reconciler runs unless a measurement says otherwise. */
export const DEFAULT_FLAGS = [`--resync=${RESYNC}`, NO_THROTTLE]

/** What is measured, and how much of it. */
export interface Setup {
  readonly binaries: Binaries
  readonly effort: Effort
  /** Rejects when nothing is wanted any more: whatever runs is then ended in order. */
  readonly interrupted: Promise<never>
  /** The program that runs; by default the one that ships, with its own catalog. */
  readonly program?: Program
  readonly reconcilerFlags?: readonly string[]
}

/** Finds, and where needed builds, the programs of the control plane. */
export const controlPlaneBinaries = (print: (line: string) => void): Promise<Binaries> =>
  findBinaries({ env: process.env, print, controllerManager: false })

/** Starts a cluster and the bundled product on it, does something, and ends all of it. */
export async function withBench<Result>(
  setup: Setup,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const { binaries } = setup
  const print = (line: string) => console.error(line)
  const plane = await startControlPlane({ binaries, auditPolicy: AUDIT_POLICY, print })
  try {
    const manifests = [
      ...loadDefinitions(join(ROOT, 'test/crds')),
      ...loadManifests(join(ROOT, 'test/samples')),
    ]
    await install(plane, manifests)
    const hco = manifests.find(({ kind }) => kind === 'HyperConverged')
    if (!hco) throw new Error('test/samples holds no HyperConverged')
    return await withAutopilot(plane, hco, setup, work)
  } finally {
    await plane.stop()
  }
}

async function withAutopilot<Result>(
  plane: ControlPlane,
  hco: Manifest,
  { effort, interrupted, program = ownProgram(), reconcilerFlags = DEFAULT_FLAGS }: Setup,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const kubeconfig = loadKubeconfig(plane.kubeconfig)
  const client = await connect(kubeconfig)
  const { entry, catalog } = program
  const autopilot = await startAutopilot({
    client,
    kubeconfig,
    catalog,
    namespace: NAMESPACE,
    folder: join(plane.dataDir, 'autopilot'),
    webhookHost: '127.0.0.1',
    entry,
    env: { PATH: process.env.PATH ?? '' },
    reconcilerFlags: ['--disruptive-changes=apply', ...reconcilerFlags],
  })
  try {
    const ready = () => untilReady(autopilot, client, hco as KubeObject)
    await ready()
    const audit = createAudit(plane.auditLog)
    const bench = { plane, client, autopilot, catalog, hco, audit, effort, untilReady: ready }
    return await Promise.race([work(bench), interrupted])
  } finally {
    await autopilot.stop()
    await client.close()
  }
}
