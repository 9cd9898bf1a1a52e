import { basename, dirname } from 'node:path'
import t, { type Test } from 'tap'
import { faultTest } from '../harness/fault.ts'
import { DESCHEDULER } from '../harness/objects.ts'
import { expectTold } from './told.ts'
import type { Actor, Told } from './writes/actor.ts'
import { plain } from './writes/manifest.ts'
import { sampled } from './writes/sample.ts'
import {
  corrected,
  type Edit,
  healthCheck,
  hyperConverged,
  type Subject,
  swap,
} from './writes/subjects.ts'
import { dry, query } from './writes/verbs.ts'
import { type VerdictCluster, verdictCluster } from './writes/verdict-cluster.ts'
import { annotate, PREFIX } from './writes/write.ts'

/** Where the API server decides that it is none of the webhook's business. */
const UNASKED = 'unasked'

type Remove = (by: Actor, of: Subject, isDry: boolean) => Promise<Told>

/** Every way in which a client deletes an object. */
const VERBS: readonly {
  readonly way: string
  readonly remove: Remove
}[] = [
  {
    way: 'DELETE',
    remove: (by, { path }, isDry) => by.send(path, { method: 'DELETE', query: query(isDry) }),
  },
  {
    way: 'DELETE of the collection',
    remove: (by, { path }, isDry) =>
      by.send(dirname(path), {
        method: 'DELETE',
        query: { fieldSelector: `metadata.name=${basename(path)}`, ...query(isDry) },
      }),
  },
  {
    way: 'kubectl delete',
    remove: (by, { target }, isDry) => by.kubectl(['delete', ...target, ...dry(isDry)]),
  },
  {
    way: 'kubectl delete of all that a selector finds',
    remove: (by, { path, target }, isDry) => {
      const selector = `--field-selector=metadata.name=${basename(path)}`
      return by.kubectl(['delete', ...target.slice(0, -1), selector, ...dry(isDry)])
    },
  },
]

interface Deletion {
  readonly says: string
  readonly subject: Subject
  readonly given?: Edit
  /** Who deletes it; by default somebody new. */
  readonly by?: string
  /** Its kind and reason, and the status of a denial. */
  readonly verdict: string
  readonly told?: readonly RegExp[]
}

const annotated = (key: string, value: string) => annotate({ [`${PREFIX}/${key}`]: value })

const DELETIONS: readonly Deletion[] = [
  {
    says: 'an active object',
    subject: corrected,
    verdict: 'allowed Recreated',
    told: [
      /comes back within seconds, without its overrides/,
      /^To keep it away: kubectl annotate/,
    ],
  },
  {
    says: 'an active object that reboots nodes',
    subject: swap,
    verdict: 'denied Protected 403',
    told: [
      /is kept by .*; a change would reboot 3 nodes of pool worker/,
      /switch the asset off first/,
    ],
  },
  {
    says: 'one whose override is invalid is no less active',
    subject: swap,
    given: annotated('ignore-fields', 'spec'),
    verdict: 'denied Protected 403',
    told: [/is kept by/],
  },
  {
    says: 'an unmanaged object',
    subject: healthCheck,
    given: annotated('mode', 'unmanaged'),
    verdict: 'allowed Unmanaged',
    told: [/comes back/, /^To keep it away: /],
  },
  {
    says: 'an unmanaged object that reboots nodes',
    subject: swap,
    given: annotated('mode', 'unmanaged'),
    verdict: 'allowed Unmanaged',
    told: [/comes back/, /^To keep it away: /],
  },
  {
    says: 'a paused object that reboots nodes',
    subject: swap,
    given: annotated('reconcile-paused', 'true'),
    verdict: 'allowed Paused',
    told: [/comes back/, /^To keep it away: /],
  },
  {
    says: 'the HyperConverged',
    subject: hyperConverged,
    verdict: 'allowed HyperConverged',
  },
  {
    says: 'what reboots nodes, by the garbage collector',
    subject: swap,
    by: 'system:serviceaccount:kube-system:generic-garbage-collector',
    verdict: UNASKED,
  },
]

t.test('what the webhook says to deletions', async (t) => {
  const cluster = await verdictCluster(t)
  for (const [row, deletion] of DELETIONS.entries()) {
    await t.test(`${deletion.says}: ${deletion.verdict}`, async (t) => {
      for (const { way, remove } of sampled(VERBS, row))
        await t.test(way, (t) => judgeDeletion(t, cluster, deletion, remove))
    })
  }

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'an object is replaced by `kubectl replace --force`, which deletes and creates it',
      outcome: 'both are judged: it is at its baseline at once, or stays where that reboots nodes',
    },
    async (t) => {
      const mild = await cluster.fresh(corrected)
      const theirs = { ...plain(mild), data: { value: 'theirs' } }
      const counted = await cluster.counted(async () => {
        const said = await cluster.actor().kubectl(['replace', '--force', '-f-'], theirs)
        const told = [/comes back/, /^To keep it away/, /set to "kept"/, /^To change it/]
        expectTold(t, said, { status: undefined, told }, 'the replacement')
      })
      t.strictSame(counted, {
        'ConfigMap DELETE allowed Recreated': 1,
        'ConfigMap CREATE corrected Drift': 1,
      })
      t.match(await cluster.read(corrected.path), { data: { value: 'kept' } })

      const strict = await cluster.fresh(swap)
      const refused = await cluster.actor().kubectl(['replace', '--force', '-f-'], plain(strict))
      t.match(refused, { status: 403, error: /switch the asset off first/ })
      t.strictSame(await cluster.read(swap.path), strict)
    },
  )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'a whole collection is deleted in one request',
      outcome: 'what reboots nodes stays, as if it were deleted by name',
    },
    async (t) => {
      const before = await cluster.fresh(swap)
      const said = await cluster.actor().send(dirname(swap.path), { method: 'DELETE' })
      t.match(said, { status: 403, error: /switch the asset off first/ })
      t.strictSame(await cluster.read(swap.path), before)
    },
  )

  await t.test('what nobody wanted here may be created, edited and deleted', async (t) => {
    const object = {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'KubeDescheduler',
      metadata: { name: 'cluster', namespace: 'openshift-kube-descheduler-operator' },
      spec: { deschedulingIntervalSeconds: 77 },
    }
    const actor = cluster.actor()
    const counted = await cluster.counted(async () => {
      for (const [path, input] of [
        [dirname(DESCHEDULER), { method: 'POST', body: object }],
        [
          DESCHEDULER,
          {
            method: 'PATCH',
            contentType: 'application/merge-patch+json',
            body: { spec: { deschedulingIntervalSeconds: 78 } },
          },
        ],
        [DESCHEDULER, { method: 'DELETE' }],
      ] as const)
        expectTold(t, await actor.send(path, input), { status: undefined, told: [] }, input.method)
    })
    t.strictSame(counted, {
      'KubeDescheduler CREATE allowed Inactive': 1,
      'KubeDescheduler UPDATE allowed Inactive': 1,
      'KubeDescheduler DELETE allowed Inactive': 1,
    })
    t.equal(await cluster.read(DESCHEDULER), undefined)
  })
})

async function judgeDeletion(
  t: Test,
  cluster: VerdictCluster,
  { subject, given, by, verdict, told = [] }: Deletion,
  remove: Remove,
) {
  const [kind, reason, denial] = verdict.split(' ')
  const isDenied = denial !== undefined
  const expected = { status: isDenied ? Number(denial) : undefined, told }
  const actor = cluster.actor(by)
  const before = await cluster.fresh(subject, given)

  const foreseen = await cluster.counted(async () =>
    expectTold(t, await remove(actor, subject, true), expected, 'the dry run'),
  )
  t.strictSame(foreseen, {}, 'the dry run is not counted')
  t.strictSame(await cluster.read(subject.path), before, 'nor does it delete')

  const counted = await cluster.counted(async () =>
    expectTold(t, await remove(actor, subject, false), expected, 'the deletion'),
  )
  const isAsked = verdict !== UNASKED
  t.strictSame(counted, isAsked ? { [`${subject.kind} DELETE ${kind} ${reason}`]: 1 } : {})
  t.strictSame(await cluster.read(subject.path), isDenied ? before : undefined)
}
