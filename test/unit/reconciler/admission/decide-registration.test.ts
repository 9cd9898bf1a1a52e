import t from 'tap'

import { decideRegistration } from '../../../../src/reconciler/admission/decide-registration.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'

const owner = (name: string, uid: string) => ({ kind: 'ClusterRole', name, uid })
const OURS = owner('virt-platform-autopilot-reconciler', 'u-1')

const configuration = (webhook: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'x', ...metadata },
  webhooks: [webhook],
})
const wanted = configuration({ name: 'a', timeoutSeconds: 3 })
const owned = configuration({ name: 'a', timeoutSeconds: 3 }, { ownerReferences: [OURS] })
const minutes = (count: number) => count * 60_000

const NOTHING = {
  wanted,
  live: undefined,
  registered: undefined,
  missingSince: undefined,
  ownerName: 'virt-platform-autopilot-reconciler',
  ownerUid: 'u-1',
  now: minutes(100),
}
const FORGOTTEN = { registered: undefined, missingSince: undefined }
const SEEN = { registered: 'u-1', missingSince: undefined }

t.test('what to do about a webhook configuration', async (t) => {
  const cases = [
    ['is created when it was never there', {}, { step: 'apply', ...FORGOTTEN }],
    [
      'stays when the server only added defaults',
      { live: configuration({ name: 'a', timeoutSeconds: 3, objectSelector: {} }) },
      { step: 'none', registered: '', missingSince: undefined },
    ],
    [
      'is put back when somebody changed it',
      { live: configuration({ name: 'a', timeoutSeconds: 30 }) },
      { step: 'apply' },
    ],
    [
      'is put back when somebody added a webhook to it',
      { live: { ...wanted, webhooks: [{ name: 'a', timeoutSeconds: 3 }, {}] } },
      { step: 'apply' },
    ],
    [
      'stays when somebody added an owner, an annotation and a label',
      {
        wanted: owned,
        live: configuration(
          { name: 'a', timeoutSeconds: 3 },
          {
            ownerReferences: [owner('other', 'u-0'), OURS],
            annotations: { a: 'b' },
            labels: { a: 'b' },
          },
        ),
      },
      { step: 'none', ...SEEN },
    ],
    [
      'is put back when it belongs to an owner of before',
      {
        wanted: owned,
        live: configuration(
          { name: 'a', timeoutSeconds: 3 },
          { ownerReferences: [{ ...OURS, uid: 'u-0' }] },
        ),
      },
      { step: 'apply', registered: 'u-0' },
    ],
    [
      'is put back when an annotation that is wanted is missing',
      {
        wanted: configuration({ name: 'a' }, { annotations: { inject: 'yes' } }),
        live: configuration({ name: 'a' }),
      },
      { step: 'apply' },
    ],
    [
      'is missed from when it is seen to be away',
      SEEN,
      { step: 'wait', registered: 'u-1', missingSince: minutes(100) },
    ],
    [
      'is missed without an owner, too',
      { registered: '', ownerUid: '' },
      { step: 'wait', missingSince: minutes(100) },
    ],
    [
      'comes back at once when it went with its owner',
      { ...SEEN, ownerUid: 'u-2' },
      { step: 'apply', ...FORGOTTEN },
    ],
    [
      'is not missed when its owner is gone',
      { registered: '', ownerUid: undefined },
      { step: 'apply', ...FORGOTTEN },
    ],
    [
      'stays away for ten minutes when somebody deleted it',
      { ...SEEN, missingSince: minutes(91) },
      { step: 'wait', missingSince: minutes(91) },
    ],
    [
      'comes back at once when the product is installed anew meanwhile',
      { ...SEEN, missingSince: minutes(91), ownerUid: 'u-2' },
      { step: 'apply', ...FORGOTTEN },
    ],
    [
      'stays away when its owner went meanwhile',
      { ...SEEN, missingSince: minutes(91), ownerUid: undefined },
      { step: 'wait', missingSince: minutes(91) },
    ],
    [
      'stays away when nobody knows whose it was',
      { missingSince: minutes(91), ownerUid: 'u-2' },
      { step: 'wait', missingSince: minutes(91) },
    ],
    [
      'comes back after ten minutes',
      { ...SEEN, missingSince: minutes(90) },
      { step: 'apply', missingSince: minutes(90) },
    ],
    [
      'stays away for ten minutes from now on when the clock says that it will be deleted',
      { ...SEEN, missingSince: minutes(5_000) },
      { step: 'wait', missingSince: minutes(100) },
    ],
    [
      'is known again when somebody brought it back',
      { wanted: owned, live: owned, missingSince: minutes(91) },
      { step: 'none', ...SEEN },
    ],
    [
      'is taken away when the product is off',
      { wanted: undefined, live: wanted, ...SEEN },
      { step: 'delete', ...FORGOTTEN },
    ],
    [
      'needs nothing when it is off and away',
      { wanted: undefined, registered: 'u-1', missingSince: minutes(1) },
      { step: 'none', ...FORGOTTEN },
    ],
  ] as const
  for (const [behaviour, view, decision] of cases) {
    t.match(decideRegistration({ ...NOTHING, ...view }), decision, behaviour)
  }
})
