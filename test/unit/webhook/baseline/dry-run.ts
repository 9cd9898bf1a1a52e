import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { PromptHandler } from '../../../../src/webhook/server/app.ts'
import type { AdmissionRequest } from '../../../../src/webhook/server/review.ts'
import { deepFreeze, seed } from '../../engine/merge/schemas.ts'
import { runs } from '../../runs.ts'
import { baselineOf, handlersWith, requestFor } from '../known.ts'

const ASSETS = ['hco-golden-config', 'swap-enable', 'node-health-standard', 'metallb'] as const
const PREFIX = 'platform.kubevirt.io'

const value = fc.constantFrom<unknown>('x', 'y', 7, null, {}, [])

/** What somebody makes of a managed object: some members of its spec, some annotations, and its labels. */
const draft = fc.record({
  asset: fc.constantFrom(...ASSETS),
  spec: fc.array(fc.record({ at: fc.nat(20), value: fc.option(value, { nil: undefined }) }), {
    maxLength: 2,
  }),
  annotations: fc.dictionary(
    fc.constantFrom(`${PREFIX}/patch`, `${PREFIX}/mode`, `${PREFIX}/reconcile-paused`, 'team'),
    fc.constantFrom('[]', '[{"op":"add","path":"/spec/x","value":1}]', 'unmanaged', 'true', 'x'),
    { maxKeys: 2, noNullPrototype: true },
  ),
  hasLabels: fc.boolean(),
})

const write = fc.record({
  draft,
  operation: fc.constantFrom('UPDATE', 'UPDATE', 'UPDATE', 'CREATE', 'DELETE'),
  username: fc.constantFrom('alice', 'alice', 'alice', 'bob', 'carol'),
  // Up to an hour: buckets refill and wars end meanwhile.
  afterMs: fc.constantFrom(0, 10, 3_000, 3_000, 3_000, 3_000, 800_000, 3_600_000),
})
type Drawn = typeof write extends fc.Arbitrary<infer Write> ? Write : never

function requestOf({ draft, operation, username }: Drawn): AdmissionRequest {
  const oldObject = baselineOf(draft.asset)
  const spec: Record<string, unknown> = { ...(oldObject.spec as object) }
  const members = Object.keys(spec)
  for (const { at, value } of draft.spec) {
    const member = members[at % members.length] ?? 'none'
    if (value === undefined) delete spec[member]
    else spec[member] = value
  }
  const { labels, ...metadata } = oldObject.metadata
  const object = deepFreeze({
    ...oldObject,
    metadata: {
      ...metadata,
      ...(draft.hasLabels && { labels }),
      annotations: draft.annotations,
    },
    spec,
  })
  const objects = {
    CREATE: { object },
    UPDATE: { object, oldObject },
    DELETE: { oldObject },
  }[operation as 'CREATE']
  return requestFor(operation as 'CREATE', { ...objects, userInfo: { username } })
}

const kindOf = ({ allowed, patch }: ReturnType<PromptHandler>) =>
  allowed ? (patch === undefined ? 'allowed' : 'corrected') : 'denied'

t.test('a dry run is answered as the write is that comes of it', async (t) => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 24 }), (writes) => {
      const { mutate, validate, clock } = handlersWith()
      for (const drawn of writes) {
        clock.now += drawn.afterMs
        const request = requestOf(drawn)
        for (const handler of [mutate, validate]) {
          const foreseen = handler({ ...request, dryRun: true })
          const real = handler(request)
          assert.deepEqual(foreseen, real)
          seen.set(kindOf(real), (seen.get(kindOf(real)) ?? 0) + 1)
        }
      }
    }),
    { seed, numRuns: runs(30) },
  )
  for (const kind of ['allowed', 'corrected', 'denied']) t.ok((seen.get(kind) ?? 0) > 20, kind)
})

t.test('however many dry runs come before it, the write is judged alike', async (t) => {
  let wars = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...ASSETS),
      fc.array(write, { minLength: 20, maxLength: 40 }),
      fc.boolean(),
      (asset, writes, isInsisting) => {
        const [asked, unasked] = [handlersWith(), handlersWith()]
        for (const write of writes) {
          // One user without a pause is what makes a war.
          const drawn: Drawn = isInsisting ? { ...write, username: 'alice', afterMs: 3_000 } : write
          asked.clock.now += drawn.afterMs
          unasked.clock.now += drawn.afterMs
          // Of one object: who edits several does not insist.
          const request = requestOf({ ...drawn, draft: { ...drawn.draft, asset } })
          for (const username of ['alice', 'alice', 'bob', 'dora', 'dora', 'dora', 'dora', 'dora'])
            asked.mutate({ ...request, dryRun: true, userInfo: { username } })
          assert.deepEqual(asked.mutate(request), unasked.mutate(request))
          const atWar = unasked.contests.atWar(unasked.clock.now)
          assert.deepEqual(asked.contests.atWar(asked.clock.now), atWar)
          wars += atWar.length
        }
        for (const told of ['counted', 'timed', 'logged', 'events', 'wars'] as const)
          assert.deepEqual(asked[told], unasked[told], told)
      },
    ),
    { seed, numRuns: runs(10) },
  )
  t.ok(wars > 0, 'some of them were wars')
})
