import t from 'tap'

import { registrationStep } from '../../../src/reconciler/registration.ts'
import type { KubeObject } from '../../../src/shared/engine/object.ts'

const configuration = (webhook: object): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'x' },
  webhooks: [webhook],
})
const wanted = configuration({ name: 'a', timeoutSeconds: 3 })
const minutes = (count: number) => count * 60_000

t.test('what to do about a webhook configuration', async (t) => {
  const cases = [
    [
      'is created when it was never there',
      'apply',
      { wanted, live: undefined, missingSince: undefined },
    ],
    [
      'stays when the server only added defaults',
      'none',
      {
        wanted,
        live: configuration({ name: 'a', timeoutSeconds: 3, objectSelector: {} }),
        missingSince: undefined,
      },
    ],
    [
      'is put back when somebody changed it',
      'apply',
      { wanted, live: configuration({ name: 'a', timeoutSeconds: 30 }), missingSince: undefined },
    ],
    [
      'is put back when somebody added a webhook to it',
      'apply',
      {
        wanted,
        live: { ...wanted, webhooks: [{ name: 'a', timeoutSeconds: 3 }, {}] },
        missingSince: undefined,
      },
    ],
    [
      'stays away for ten minutes when somebody deleted it',
      'wait',
      { wanted, live: undefined, missingSince: minutes(91) },
    ],
    [
      'comes back after ten minutes',
      'apply',
      { wanted, live: undefined, missingSince: minutes(90) },
    ],
    [
      'is taken away when the product is off',
      'delete',
      { wanted: undefined, live: wanted, missingSince: undefined },
    ],
    [
      'needs nothing when it is off and away',
      'none',
      { wanted: undefined, live: undefined, missingSince: minutes(1) },
    ],
  ] as const
  for (const [behaviour, step, view] of cases) {
    t.equal(registrationStep({ ...view, now: minutes(100) }), step, behaviour)
  }
})
