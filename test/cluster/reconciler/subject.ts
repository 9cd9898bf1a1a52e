import { act, type Target } from '../../../src/reconciler/baseline/act.ts'
import type { Write } from '../../../src/reconciler/baseline/decide/outcome.ts'
import { FIELD_MANAGER, MANAGED_BY } from '../../../src/shared/baseline/annotations.ts'
import type { Client } from '../../../src/shared/cluster/client.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { countingClient } from '../harness/counting-client.ts'
import type { TestCluster } from '../harness/fixture.ts'

const NAMESPACE = 'default'
const AT = { apiVersion: 'v1', resource: 'configmaps', namespace: NAMESPACE }

/** What a decision says that comes with a write, as far as the write goes. */
export const outcome = { kind: 'leftover', message: 'a test says so' } as const
export const done = (write: Write) => ({ kind: 'final', outcome, write }) as const

let objects = 0

/** An object of its own for each test, which is not there yet, a target that is about it, and what others do to it. */
export function createSubject(
  { admin }: Pick<TestCluster, 'admin'>,
  client: Client,
  changes: Partial<Target> = {},
) {
  const name = `subject-${objects++}`
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/${name}`
  const counting = countingClient(changes.client ?? client, path)
  const stored: KubeObject[] = []
  const leading: Target = {
    client,
    at: AT,
    name,
    isLeader: () => true,
    isObserving: false,
    onStored: () => undefined,
  }
  const onStored = (object: KubeObject) => stored.push(object)
  const target: Target = { ...leading, onStored, ...changes, client: counting }
  const baseline = (data: Readonly<Record<string, string>> = { value: 'kept' }): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: NAMESPACE, labels: { [MANAGED_BY]: FIELD_MANAGER } },
    data,
  })
  const find = async () => {
    const { status, body } = await admin<KubeObject>('GET', path)
    return status === 404 ? undefined : body
  }
  return {
    target,
    /** What was asked about the object by way of the target, and what was stored so. */
    asked: counting.asked as readonly string[],
    stored: stored as readonly KubeObject[],
    baseline,
    /** The object as it is stored; undefined where there is none. */
    find,
    async found() {
      const object = await find()
      if (!object) throw new Error(`there is no ${name}`)
      return object
    },
    /** Applies the object, as the leader did once. */
    async made(data?: Readonly<Record<string, string>>) {
      const creation = done({ kind: 'apply', desired: baseline(data), live: undefined })
      const { object } = await act(creation, leading)
      if (!object) throw new Error(`${name} was not made`)
      return object
    },
    async edit(body: object) {
      const { status } = await admin('PATCH', path, body, 'application/merge-patch+json')
      if (status !== 200) throw new Error(`the edit of ${name} was answered ${status}`)
    },
    remove: () => admin('DELETE', path),
  }
}
