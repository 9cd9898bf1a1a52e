import { dirname } from 'node:path'
import type { Test } from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import { expectTold } from './told.ts'
import type { Actor, Told } from './writes/actor.ts'
import { essenceOf } from './writes/manifest.ts'
import { sampled } from './writes/sample.ts'
import {
  corrected,
  type Edit,
  edited,
  healthCheck,
  hyperConverged,
  refused,
  type Subject,
  swap,
} from './writes/subjects.ts'
import { dry, query } from './writes/verbs.ts'
import type { VerdictCluster } from './writes/verdict-cluster.ts'
import { annotate, PREFIX } from './writes/write.ts'

const collectionOf = ({ path }: Subject) => dirname(path)

/** Every way in which a client creates an object. */
const VERBS: readonly {
  readonly way: string
  readonly create: (by: Actor, of: Subject, object: KubeObject, isDry: boolean) => Promise<Told>
  readonly hasDryRun?: false
}[] = [
  {
    way: 'POST',
    create: (by, of, body, isDry) =>
      by.send(collectionOf(of), { method: 'POST', body, query: query(isDry) }),
  },
  {
    way: 'a server-side apply',
    create: (by, of, body, isDry) =>
      by.send(of.path, {
        method: 'PATCH',
        contentType: 'application/apply-patch+yaml',
        body,
        query: { fieldManager: 'gitops', ...query(isDry) },
      }),
  },
  {
    way: 'kubectl create',
    create: (by, _of, object, isDry) => by.kubectl(['create', ...dry(isDry), '-f-'], object),
  },
  {
    way: 'kubectl apply',
    create: (by, _of, object, isDry) => by.kubectl(['apply', ...dry(isDry), '-f-'], object),
  },
  {
    way: 'kubectl replace --force',
    create: (by, _of, object) => by.kubectl(['replace', '--force', '-f-'], object),
    hasDryRun: false,
  },
]

interface Creation {
  readonly says: string
  readonly subject: Subject
  /** How the new object differs from what is kept. */
  readonly edit: Edit
  /** The verdict, its reason, and the status that clients see. */
  readonly verdict: string
  /** How what is stored differs from what is kept; nothing is stored of what is denied. */
  readonly stored?: Edit
  readonly told?: readonly RegExp[]
}

const unlabelled: Edit = ({ metadata }) => {
  delete metadata.labels
}

const CREATIONS: readonly Creation[] = [
  {
    says: 'an object that is not labelled, and not as it should be, is adopted',
    subject: healthCheck,
    edit: (object) => {
      unlabelled(object)
      object.spec.minHealthy = '1%'
    },
    verdict: 'corrected Drift 201',
    told: [/managed-by set to/, /minHealthy set to "51%" by/, /^To change it: /],
  },
  {
    says: 'an object is adopted where the asset denies edits',
    subject: refused,
    edit: ({ data }) => {
      data.value = 'theirs'
      data.beside = 'theirs'
    },
    verdict: 'corrected Drift 201',
    stored: ({ data }) => {
      data.beside = 'theirs'
    },
    told: [/\/data\/value set to "kept" by/, /^To change it: /],
  },
  {
    says: 'an object that reboots nodes, and reboots them as it should, is adopted',
    subject: swap,
    edit: (object) => {
      delete object.metadata.labels[`${PREFIX}/managed-by`]
      object.spec.config.systemd.units = []
    },
    verdict: 'corrected Drift 201',
    told: [/managed-by set to/, /\/spec\/config\/systemd\/units.* set to/, /^To own it yourself: /],
  },
  {
    says: 'an object is as it is kept',
    subject: healthCheck,
    edit: () => undefined,
    verdict: 'allowed InSync 201',
  },
  {
    says: 'an object comes with the patch that makes it legitimate',
    subject: corrected,
    edit: (object) => {
      annotate({
        [`${PREFIX}/patch`]: '[{"op":"replace","path":"/data/value","value":"theirs"}]',
      })(object)
      object.data.value = 'theirs'
    },
    verdict: 'allowed InSync 201',
    stored: (object) => {
      annotate({
        [`${PREFIX}/patch`]: '[{"op":"replace","path":"/data/value","value":"theirs"}]',
      })(object)
      object.data.value = 'theirs'
    },
  },
  {
    says: 'an override is no valid one',
    subject: corrected,
    edit: annotate({ [`${PREFIX}/ignore-fields`]: 'data' }),
    verdict: 'denied InvalidOverride 403',
    told: [/ignore-fields.* must start with/],
  },
  {
    says: 'a sensitive kind comes with a patch',
    subject: swap,
    edit: annotate({ [`${PREFIX}/patch`]: '[]' }),
    verdict: 'denied PatchBlocked 403',
    told: [/grants power over nodes/],
  },
  {
    says: 'a HyperConverged comes with a setting that is none',
    subject: hyperConverged,
    edit: annotate({ [`${PREFIX}/enforcement`]: 'warn' }),
    verdict: 'denied InvalidSetting 403',
    told: [/enforcement must be "correct" or "deny"/],
  },
]

/** Tests each of the creations in several ways, as a dry run first. */
export async function judgeCreations(t: Test, cluster: VerdictCluster) {
  for (const [row, creation] of CREATIONS.entries()) {
    await t.test(`${creation.says}: ${creation.verdict}`, async (t) => {
      for (const { way, create, hasDryRun } of sampled(VERBS, row))
        await t.test(way, async (t) => {
          const actor = cluster.actor()
          await cluster.absent(creation.subject)
          const object = edited(cluster.kept(creation.subject), creation.edit)
          const by = (isDry: boolean) => create(actor, creation.subject, object, isDry)
          if (hasDryRun !== false) await judgeCreation(t, cluster, creation, () => by(true), true)
          await judgeCreation(t, cluster, creation, () => by(false), false)
        })
    })
  }

  await t.test('neither a generated name nor our label makes an object ours', async (t) => {
    await cluster.absent(healthCheck)
    const kept = cluster.kept(healthCheck)
    const { name: _, ...metadata } = kept.metadata
    const body = { ...kept, metadata: { ...metadata, generateName: 'virt-node-health-check' } }
    const items = async () => {
      const { items } = await cluster.read(collectionOf(healthCheck))
      return items as readonly Loose[]
    }
    const asked = await cluster.asked()
    const input = { method: 'POST', body } as const
    const told = await cluster.actor().send(collectionOf(healthCheck), input)
    t.strictSame(told, { status: 201, warnings: [], error: '' })
    const [made] = await items()
    t.match(made.metadata.name, /^virt-node-health-check.{5}$/)
    const foreign = { path: `${collectionOf(healthCheck)}/${made.metadata.name}` }
    const patch = { spec: { minHealthy: '1%' } }
    for (const write of [
      { method: 'PATCH', contentType: 'application/merge-patch+json', body: patch },
      { method: 'DELETE' },
    ] as const)
      t.strictSame(await cluster.actor().send(foreign.path, write), {
        status: 200,
        warnings: [],
        error: '',
      })
    t.equal(await cluster.asked(), asked)
    t.strictSame(await items(), [])
  })
}

async function judgeCreation(
  t: Test,
  cluster: VerdictCluster,
  { subject, verdict, stored, told = [] }: Creation,
  create: () => Promise<Told>,
  isDry: boolean,
) {
  const [kind, reason, status] = verdict.split(' ')
  const expected = { status: Number(status), told }
  const counted = await cluster.counted(async () =>
    expectTold(t, await create(), expected, isDry ? 'the dry run' : 'the write'),
  )
  t.strictSame(counted, isDry ? {} : { [`${subject.kind} CREATE ${kind} ${reason}`]: 1 })
  const object = await cluster.read(subject.path)
  if (isDry || kind === 'denied') {
    t.equal(object, undefined, 'nothing is stored')
  } else {
    const kept = edited(cluster.kept(subject), stored)
    t.strictSame(essenceOf(object), essenceOf(kept))
  }
}
