import type { Test } from 'tap'
import type { Loose } from '../../harness/autopilot-fixture.ts'
import { type Expected, expectTold } from '../told.ts'
import { essenceOf } from './manifest.ts'
import { sampled } from './sample.ts'
import { edited } from './subjects.ts'
import { VERBS, type Verb } from './verbs.ts'
import type { VerdictCluster } from './verdict-cluster.ts'
import type { Write } from './write.ts'

/** What is to be seen of a write that goes one way. */
interface Outcome extends Expected {
  /** What the webhook counts of it: the verdict and its reason; nothing where nobody asks it. */
  readonly counted: string | undefined
  readonly isStored: boolean
}

let unique = 0

/** Tests each of the writes in several ways in which a client writes, as a dry run first. */
export async function judgeUpdates(t: Test, cluster: VerdictCluster, writes: readonly Write[]) {
  for (const [row, write] of writes.entries()) {
    await t.test(`${write.says}: ${write.verdict}`, async (t) => {
      const isServed = (verb: Verb) => write.subject.kind === 'ConfigMap' || !verb.isForBuiltIns
      for (const verb of sampled(VERBS.filter(isServed), row))
        await t.test(verb.way, (t) => judgeUpdate(t, cluster, write, verb))
    })
  }
}

async function judgeUpdate(t: Test, cluster: VerdictCluster, write: Write, verb: Verb) {
  const number = ++unique
  const { subject } = write
  const actor = cluster.actor()
  const made = await cluster.fresh(subject, write.given)
  await verb.prepare?.({ actor, subject, before: made, after: made })
  const before = await cluster.read(subject.path)
  const after = edited(before, (object) => write.edit(object, number))
  const wish = { actor, subject, before, after }
  const isSame = JSON.stringify(before) === JSON.stringify(after)
  const outcome = isSame && verb.isLazy ? UNASKED : outcomeOf(write, verb)

  if (verb.hasDryRun !== false) {
    const counted = await cluster.counted(async () =>
      expectTold(t, await verb.write(wish, true), outcome, 'the dry run'),
    )
    t.strictSame(counted, {}, 'the dry run is not counted')
    t.strictSame(await cluster.read(subject.path), before, 'nor stored')
  }

  const counted = await cluster.counted(async () =>
    expectTold(t, await verb.write(wish, false), outcome, 'the write'),
  )
  const expected = outcome.counted && `${subject.kind} UPDATE ${outcome.counted}`
  t.strictSame(counted, expected ? { [expected]: 1 } : {}, 'the write is counted')
  const stored = await cluster.read(subject.path)
  const wanted = edited(before, (object) => outcome.isStored && storedOf(write)(object, number))
  t.strictSame(essenceOf(stored), essenceOf(wanted), 'what is stored')
  if (!outcome.isStored || isSame)
    t.equal(stored.metadata.generation, before.metadata.generation, 'no new generation')
  if (outcome.status !== 200)
    t.equal(stored.metadata.resourceVersion, before.metadata.resourceVersion, 'nothing at all')
}

const UNASKED: Outcome = { counted: undefined, status: 200, told: [], isStored: false }
const CONFLICT: Outcome = { counted: undefined, status: 409, told: [/conflict/], isStored: false }

function outcomeOf(
  { verdict, told = [], applied, isContested, stored }: Write,
  verb: Verb,
): Outcome {
  if (verb.apply === 'polite' && isContested) return CONFLICT
  if (verb.apply && applied) return { ...UNASKED, counted: applied }
  const [kind, reason, status = '200'] = verdict.split(' ')
  return {
    counted: `${kind} ${reason}`,
    status: Number(status),
    told,
    isStored: kind === 'allowed' || stored !== undefined,
  }
}

const storedOf = ({ stored, edit }: Write): ((object: Loose, unique: number) => void) =>
  stored ?? edit
