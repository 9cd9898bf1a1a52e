import t from 'tap'

import { decideLease, type LeaseStep } from '../../../../src/reconciler/manager/leader-election.ts'

const leaseOf = (spec: object | undefined) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'lease' },
  ...(spec && { spec }),
})

t.test('what a candidate does about the Lease', async (t) => {
  const held = { holderIdentity: 'other', leaseDurationSeconds: 15 }
  const cases: readonly [string, object | undefined | 'none', number, LeaseStep][] = [
    ['creates one where there is none', 'none', 0, 'create'],
    ['renews its own', { holderIdentity: 'me' }, 0, 'renew'],
    [
      'renews its own, however late',
      { holderIdentity: 'me', leaseDurationSeconds: 1 },
      1e9,
      'renew',
    ],
    ['waits while another holds it', held, 15_000, 'wait'],
    ['takes one that was not renewed for its whole duration', held, 15_001, 'take'],
    ['takes one that was released', { holderIdentity: '', leaseDurationSeconds: 1 }, 0, 'take'],
    ['takes one that nobody ever held', {}, 0, 'take'],
    ['takes one without a word in it', undefined, 0, 'take'],
    ['reads no duration as the usual one', { holderIdentity: 'other' }, 15_000, 'wait'],
    [
      'waits for as long as the holder asked for',
      { ...held, leaseDurationSeconds: 60 },
      59_000,
      'wait',
    ],
  ]
  for (const [name, spec, unchangedMs, step] of cases)
    t.equal(decideLease(spec === 'none' ? undefined : leaseOf(spec), 'me', unchangedMs), step, name)
})
