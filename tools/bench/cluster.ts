import { join } from 'node:path'

import { loadOwnCatalog } from '../../src/cli/assets.ts'
import { type Binaries, findBinaries } from '../../src/cli/control-plane/binaries.ts'
import { type ControlPlane, startControlPlane } from '../../src/cli/control-plane/control-plane.ts'
import { install } from '../../src/cli/control-plane/install.ts'
import { loadManifests, type Manifest } from '../../src/cli/control-plane/manifests.ts'
import { type Autopilot, startAutopilot } from '../../src/cli/dev/autopilot.ts'
import { untilReady } from '../../src/cli/dev/readiness.ts'
import type { Catalog } from '../../src/shared/catalog/catalog.ts'
import { type Client, connect } from '../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../src/shared/engine/object.ts'
import { AUDIT_POLICY, type Audit, createAudit, NAMESPACE } from './audit.ts'
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
const BUNDLE = join(ROOT, 'dist/main.js')
/** Often enough that an idle minute has several. */
export const RESYNC = '10s'

/** Finds, and where needed builds, the programs of the control plane. */
export const controlPlaneBinaries = (print: (line: string) => void): Promise<Binaries> =>
  findBinaries({ env: process.env, print, controllerManager: false })

/** Starts a cluster and the bundled product on it, does something, and ends all of it. */
export async function withBench<Result>(
  binaries: Binaries,
  effort: Effort,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const print = (line: string) => console.error(line)
  const plane = await startControlPlane({ binaries, auditPolicy: AUDIT_POLICY, print })
  try {
    const manifests = ['crds', 'samples'].flatMap((folder) =>
      loadManifests(join(ROOT, 'test', folder)),
    )
    await install(plane, manifests)
    const hco = manifests.find(({ kind }) => kind === 'HyperConverged')
    if (!hco) throw new Error('test/samples holds no HyperConverged')
    return await withAutopilot(plane, hco, effort, work)
  } finally {
    await plane.stop()
  }
}

async function withAutopilot<Result>(
  plane: ControlPlane,
  hco: Manifest,
  effort: Effort,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const kubeconfig = loadKubeconfig(plane.kubeconfig)
  const client = await connect(kubeconfig)
  const catalog = loadOwnCatalog()
  const autopilot = await startAutopilot({
    client,
    kubeconfig,
    catalog,
    namespace: NAMESPACE,
    folder: join(plane.dataDir, 'autopilot'),
    webhookHost: '127.0.0.1',
    entry: BUNDLE,
    env: { PATH: process.env.PATH ?? '' },
    reconcilerFlags: ['--disruptive-changes=apply', `--resync=${RESYNC}`],
  })
  try {
    const ready = () => untilReady(autopilot, client, hco as KubeObject)
    await ready()
    const audit = createAudit(plane.auditLog)
    return await work({ plane, client, autopilot, catalog, hco, audit, effort, untilReady: ready })
  } finally {
    await autopilot.stop()
    await client.close()
  }
}
