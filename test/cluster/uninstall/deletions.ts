import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { AutopilotCluster, Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, METALLB, SWAP } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { untilGone, WITHIN_MS } from './uninstall.ts'

export const METALLB_NAMESPACE = '/api/v1/namespaces/metallb-system'
export const FINALIZERS: readonly string[] = ['example.com/hold']
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const GUARDIAN = `${ROLES}/guardian`
const merge = 'application/merge-patch+json'

/** The ways in which a test on one cluster deletes things and makes them again. */
export interface Deletions {
  /** Merges this into an object's metadata. */
  readonly patch: (t: Test, path: string, metadata: object) => Promise<void>
  /** Makes an object like one that was. */
  readonly make: (t: Test, object: Loose, path: string) => Promise<void>
  /** Gives a MachineConfig an owner, which the garbage collector knows of. */
  readonly own: (t: Test, path: string) => Promise<void>
  /** Deletes that owner. */
  readonly disown: (t: Test, policy: 'Background' | 'Orphan') => Promise<void>
  /** Waits until an object is there that is not the one from before. */
  readonly untilBack: (path: string, before: Loose) => Promise<Loose>
  readonly isJudged: () => Promise<boolean>
  readonly untilJudged: () => Promise<unknown>
}

const collectionOf = (path: string) => path.slice(0, path.lastIndexOf('/'))

const asNew = ({ apiVersion, kind, metadata, spec }: Loose) => {
  const { name, namespace, labels, annotations } = metadata
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec }
}

/** Deletes and makes things as the administrator of a cluster. */
export function deletionsOn({ admin, read, ...rest }: AutopilotCluster): Deletions {
  const cluster = { admin, read, ...rest }
  const patch = async (t: Test, path: string, metadata: object) => {
    const { status, body } = await admin('PATCH', path, { metadata }, merge)
    t.equal(status, 200, JSON.stringify(body))
  }
  const isJudged = async () => {
    const wrong = { metadata: { annotations: { 'platform.kubevirt.io/mode': 'anybody?' } } }
    return (await admin('PATCH', `${SWAP}?dryRun=All`, wrong, merge)).status === 403
  }
  return {
    patch,
    async make(t, object, path) {
      const { status, body } = await admin('POST', collectionOf(path), asNew(object))
      t.equal(status, 201, JSON.stringify(body))
    },
    async own(t, path) {
      const role = { metadata: { name: 'guardian' }, rules: [] }
      const { status, body } = await admin<Loose>('POST', ROLES, role)
      t.equal(status, 201, JSON.stringify(body))
      const { name, uid } = body.metadata
      const owner = {
        ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
        ...{ name, uid },
      }
      await patch(t, path, { ownerReferences: [owner] })
      // It takes in what happens to a kind in its order, and by then has deleted what nobody owns.
      const garbage = {
        ...{ apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig', spec: {} },
        metadata: {
          name: '99-garbage',
          ownerReferences: [{ ...owner, name: 'nobody', uid: randomUUID() }],
        },
      }
      t.equal((await admin('POST', collectionOf(path), garbage)).status, 201)
      await untilGone(cluster, `${collectionOf(path)}/99-garbage`)
    },
    async disown(t, propagationPolicy) {
      const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy }
      t.equal((await admin('DELETE', GUARDIAN, options)).status, 200)
      await untilGone(cluster, GUARDIAN)
    },
    untilBack: (path, before) =>
      until(
        `${path} is back`,
        async () => {
          const found = await read(path)
          return found && found.metadata.uid !== before.metadata.uid && found
        },
        WITHIN_MS,
      ),
    isJudged,
    untilJudged: () => until('the webhook is asked', isJudged, WITHIN_MS),
  }
}

/** Deletes whatever cleaning up deletes, and finds that all of it ends and comes back. */
export async function everythingEnds(t: Test, cluster: AutopilotCluster): Promise<void> {
  const { admin, read } = cluster
  const { patch, make, own, disown, untilBack } = deletionsOn(cluster)

  await t.test('the namespace of a managed object', async (t) => {
    const [namespace, before] = [await read(METALLB_NAMESPACE), await read(METALLB)]
    t.equal((await admin('DELETE', METALLB_NAMESPACE)).status, 200)
    await untilGone(cluster, METALLB_NAMESPACE)
    t.equal(await read(METALLB), undefined)
    await make(t, namespace, METALLB_NAMESPACE)
    await untilBack(METALLB, before)
  })

  await t.test('a managed object that people may not delete, by its owner', async (t) => {
    const before = await read(SWAP)
    await own(t, SWAP)
    await disown(t, 'Background')
    const { metadata } = await untilBack(SWAP, before)
    t.equal(metadata.ownerReferences, undefined, 'it comes back on its own')
  })

  await t.test('its owner alone', async (t) => {
    const before = await read(SWAP)
    await own(t, SWAP)
    await disown(t, 'Orphan')
    const { metadata } = await read(SWAP)
    t.same([metadata.uid, metadata.ownerReferences], [before.metadata.uid, undefined])
  })

  await t.test('a managed object with a finalizer, which is removed afterwards', async (t) => {
    const before = await read(METALLB)
    await patch(t, METALLB, { finalizers: FINALIZERS })
    t.equal((await admin('DELETE', METALLB)).status, 200)
    t.ok((await read(METALLB)).metadata.deletionTimestamp, 'it is terminating')
    await patch(t, METALLB, { finalizers: null })
    await untilBack(METALLB, before)
  })

  await t.test('a finalizer alone', async (t) => {
    for (const path of [SWAP, HEALTH_CHECK, METALLB, HCO]) {
      await patch(t, path, { finalizers: FINALIZERS })
      await patch(t, path, { finalizers: null })
      t.equal((await read(path)).metadata.finalizers, undefined, path)
    }
  })
}
