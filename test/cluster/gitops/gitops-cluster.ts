import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import {
  type AutopilotCluster,
  type AutopilotClusterOptions,
  autopilotCluster,
} from '../harness/autopilot-fixture.ts'
import type { Scope } from '../harness/fixture.ts'
import { HCO, HEALTH_CHECK } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { createTools, type Tool } from './tools.ts'

const PATHS: Readonly<Record<string, string>> = {
  HyperConverged: HCO,
  NodeHealthCheck: HEALTH_CHECK,
}

/** Where an object of Git is in the API. */
export const pathOf = ({ kind }: KubeObject): string => PATHS[kind] ?? ''

const STORMS = ['DriftDetected', 'DriftCorrected', 'Throttled', 'ThrashingDetected']

/** A cluster that is kept by the autopilot and by GitOps tools. */
export interface GitopsCluster extends AutopilotCluster {
  readonly tools: readonly Tool[]
  /** Takes away whatever Git is about, so that a tool finds the cluster as at its first sync. */
  forget(): Promise<void>
  /** Syncs until neither side has anything left to do, which is soon. */
  settle(tool: Tool, manifest: KubeObject): Promise<void>
  /** What the product has told and counted of quarrels so far. */
  quarrels(): Promise<number>
}

/** Starts the product, and lets tools at the cluster. */
export async function gitopsCluster(
  t: Scope,
  options: AutopilotClusterOptions = {},
): Promise<GitopsCluster> {
  const cluster = await autopilotCluster(t, { ...options, reconcilerFlags: ['--resync=200ms'] })
  const { admin, read, untilCompared, events, metric } = cluster
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  const remove = (path: string) =>
    until(`${path} is gone`, async () => {
      await admin('DELETE', path)
      return (await read(path)) === undefined
    })
  return Object.assign(cluster, {
    tools: createTools(cluster, client),
    async forget() {
      // Without a HyperConverged nothing else is kept, so that it can be deleted.
      for (const path of [HCO, HEALTH_CHECK]) await remove(path)
    },
    async settle({ compare, sync, name }: Tool, manifest: KubeObject) {
      const path = pathOf(manifest)
      const version = async () => (await read(path))?.metadata.resourceVersion
      await until(`${name} and the autopilot agree`, async () => {
        const before = await version()
        const error = await sync(path, manifest)
        if (error !== undefined) throw new Error(error)
        await untilCompared(manifest.metadata.name)
        return (await version()) === before && (await compare(path, manifest)) === 'Synced'
      })
    },
    async quarrels() {
      const told = await Promise.all(STORMS.map(events))
      const contests = await metric('webhook', 'virt_platform_admission_contests_total')
      return told.flat().length + contests
    },
  })
}
