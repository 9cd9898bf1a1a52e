import type { Test } from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { Autopilot } from '../../../tools/dev/autopilot.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import { type TestCluster, testCluster } from '../harness/fixture.ts'
import { HCO } from '../harness/objects.ts'
import {
  areFree,
  contentsOf,
  createDeadline,
  installOn,
  managedObjects,
  OUR_NAMESPACE,
  REGISTERED,
  remove,
  untilGone,
} from './uninstall.ts'

const ASKED_FOR = ['enable-loadaware', 'enable-aaq', 'enable-node-maintenance']
const annotations = Object.fromEntries(
  ASKED_FOR.map((key) => [`platform.kubevirt.io/${key}`, 'true']),
)

/** A cluster to uninstall from, again and again. */
export interface Uninstalling {
  readonly cluster: TestCluster
  /** Asks kubectl to delete these objects, and waits for none of them: with the first the time begins. */
  readonly remove: (objects: readonly KubeObject[]) => Promise<void>
  /** Waits until an object is gone, in what is left of the time. */
  readonly untilGone: (path: string) => Promise<true>
  /** A test that installs the product, takes it away, and proves that it is gone and everything else is not. */
  readonly uninstalled: (
    name: string,
    uninstall: (t: Test, autopilot: Autopilot) => Promise<unknown>,
  ) => (t: Test) => Promise<void>
}

/** Starts a cluster with a garbage collector, whose HyperConverged asks for most of what there is to ask for. */
export async function uninstalling(t: Test): Promise<Uninstalling> {
  const cluster = await testCluster(t, { controllerManager: true, isAudited: true })
  const asking = { metadata: { annotations } }
  const { status } = await cluster.admin('PATCH', HCO, asking, 'application/merge-patch+json')
  t.equal(status, 200)
  let deadline = createDeadline()
  const untilAway = (path: string) => untilGone(cluster, path, deadline.left())
  /** Installs the product, takes it away, and proves that it is gone and everything else is not. */
  const uninstalled: Uninstalling['uninstalled'] = (name, uninstall) => async (t: Test) => {
    const autopilot = await installOn(t, cluster, name)
    const kept = await managedObjects(cluster)
    const kinds = new Set([...kept.values()].map(({ kind }: Loose) => kind))
    t.ok(kinds.size >= 9, `managed: ${[...kinds].join(', ')}`)
    deadline = createDeadline()
    await uninstall(t, autopilot)
    for (const path of [OUR_NAMESPACE, ...REGISTERED]) await untilAway(path)
    t.same(contentsOf(await managedObjects(cluster)), contentsOf(kept), 'the baseline stays')
    await areFree(t, cluster, kept)
  }

  return {
    cluster,
    uninstalled,
    untilGone: untilAway,
    async remove(objects) {
      deadline.start()
      await remove(cluster, objects)
    },
  }
}
