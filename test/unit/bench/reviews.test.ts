import t from 'tap'
import { parse } from 'yaml'

import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { HCO_EDIT, isEdited, SMALL_MACHINE_CONFIG_EDIT } from '../../../tools/bench/edits.ts'
import {
  OBJECT_BYTES,
  type ReviewResponse,
  responseIn,
  reviewsFor,
  UID,
} from '../../../tools/bench/reviews.ts'

const hco = parse(`
apiVersion: hco.kubevirt.io/v1
kind: HyperConverged
metadata: { name: kubevirt-hyperconverged, namespace: openshift-cnv }
spec:
  virtualization:
    evictionStrategy: LiveMigrate
    liveMigrationConfig: { allowPostCopy: false, progressTimeout: 150 }
`) as KubeObject
const machineConfig = parse(`
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: { name: 50-virt-pci-passthrough }
spec:
  kernelArguments: [intel_iommu=on, iommu=pt]
`) as KubeObject

interface Body {
  readonly request: {
    readonly object: KubeObject
    readonly oldObject: KubeObject
    readonly userInfo: { readonly username: string }
  }
}

const requests = () =>
  reviewsFor(hco, machineConfig).map((review) => ({
    review,
    ...(JSON.parse(String(review.bodyFor('alice'))) as Body).request,
  }))

t.test('objects are as large as wanted, and not much larger', async (t) => {
  for (const { review, object, oldObject, userInfo } of requests()) {
    t.equal(userInfo.username, 'alice')
    for (const one of [object, oldObject]) {
      const length = JSON.stringify(one).length - OBJECT_BYTES
      t.ok(length > -200 && length < 200, `${review.what}: ${length} bytes too large`)
    }
  }
})

t.test('of the managed fields, only those of an edit differ from what is stored', async (t) => {
  const [clean, correction, denial] = requests()
  t.match(clean?.object, {
    spec: { virtualization: { evictionStrategy: 'LiveMigrateIfPossible' } },
  })
  t.notOk(isEdited(HCO_EDIT, clean?.object as KubeObject))
  t.ok(isEdited(HCO_EDIT, correction?.object as KubeObject))
  t.notOk(isEdited(HCO_EDIT, correction?.oldObject as KubeObject))
  t.ok(isEdited(SMALL_MACHINE_CONFIG_EDIT, denial?.object as KubeObject))
  t.notOk(isEdited(SMALL_MACHINE_CONFIG_EDIT, denial?.oldObject as KubeObject))
})

const POST_COPY = '/spec/virtualization/liveMigrationConfig/allowPostCopy'
const encoded = (operations: readonly object[]) =>
  Buffer.from(JSON.stringify(operations)).toString('base64')

t.test('an answer counts only where the right object would be stored', async (t) => {
  const putBack = encoded([{ op: 'replace', path: POST_COPY, value: false }])
  const tooMuch = encoded([
    { op: 'replace', path: POST_COPY, value: false },
    { op: 'remove', path: '/spec/virtualization/evictionStrategy' },
  ])
  const allowed = { uid: UID, allowed: true }
  for (const [what, response, expected] of [
    ['allowed', allowed, [true, false, false]],
    ['corrected', { ...allowed, patch: putBack }, [false, true, false]],
    ['changed elsewhere too', { ...allowed, patch: tooMuch }, [false, false, false]],
    ['denied', { uid: UID, allowed: false }, [false, false, true]],
    ['of another request', { uid: 'other', allowed: false }, [false, false, false]],
  ] as const satisfies readonly (readonly [string, ReviewResponse, readonly boolean[]])[]) {
    const reviews = reviewsFor(hco, machineConfig)
    t.same(
      reviews.map(({ isExpected }) => isExpected(response)),
      expected,
      what,
    )
  }
})

t.test('the response is what an answer holds of a review', async (t) => {
  const answer = { kind: 'AdmissionReview', response: { uid: UID, allowed: true } }
  t.same(responseIn(JSON.stringify(answer)), answer.response)
})
