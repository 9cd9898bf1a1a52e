import t from 'tap'
import { OwnerRole } from '../../../src/reconciler/admission/owner-role.ts'
import { ApiError, type Client } from '../../../src/shared/cluster/client.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'

const ROLE: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'virt-platform-autopilot-reconciler', uid: 'u-1' },
}

/** The requests of an owner, and the answers to them. */
function answering(answers: readonly (KubeObject | undefined)[]) {
  let asked = 0
  const client: Pick<Client, 'send'> = {
    async send() {
      const body = answers[asked++]
      if (!body) throw new ApiError('GET', 404, {})
      return { status: 200, headers: {}, body }
    },
  }
  return { owner: new OwnerRole(client as Client, ROLE.metadata.name), asked: () => asked }
}

t.test('an owner that comes later is seen, and asked for once until the answer ages', async (t) => {
  const { owner, asked } = answering([undefined, ROLE])
  t.equal(await owner.known(), undefined)
  t.equal(await owner.known(), undefined)
  t.equal(asked(), 1)
  owner.age()
  t.equal(await owner.known(), ROLE)
  owner.age()
  t.equal(await owner.known(), ROLE)
  t.equal(asked(), 2, 'one that was seen is not asked for again')
})

t.test('one that is gone stays known, and is told from one that never was', async (t) => {
  const { owner } = answering([ROLE, undefined])
  t.equal(await owner.fresh(), ROLE)
  owner.age()
  t.equal(await owner.fresh(), undefined)
  t.ok(owner.isGone)
  t.equal(await owner.known(), ROLE)
})
