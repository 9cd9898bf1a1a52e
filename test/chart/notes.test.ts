import t from 'tap'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import { helmOn, notesArgs, objectsIn, templateArgs, type Values } from './helm.ts'
import { CHOSEN, INSTALLATIONS } from './matrix.ts'
import { podInNotes, podsIn } from './pods.ts'

t.test('the notes', async (t) => {
  const helm = await helmOn()
  const notes = async (values: Values) => {
    const { isGood, stdout, stderr } = await helm(notesArgs(), { ...CHOSEN, ...values })
    if (!isGood) throw new Error(stderr)
    return stdout.slice(stdout.indexOf('\nNOTES:\n'))
  }

  for (const [activation, disruptiveChanges, said, unsaid] of [
    [
      'observe',
      'hold',
      /^It only observes.*\n+Once it is on, changes .* wait for your/m,
      /AT ONCE/,
    ],
    [
      'observe',
      'apply',
      /^It only observes.*\n+Once it is on, changes .* AT ONCE/m,
      /approval\.$/m,
    ],
    ['on', 'hold', /^It is on.*\n+Changes .* wait for your approval/m, /AT ONCE|observes/],
    ['on', 'apply', /^It is on.*\n+Changes .* AT ONCE/m, /approval\.$|observes/m],
  ] as const) {
    await t.test(`say what ${activation} and ${disruptiveChanges} come to`, async (t) => {
      const text = await notes({ activation, disruptiveChanges })
      t.match(text, said)
      t.notMatch(text, unsaid)
    })
  }

  for (const [what, values] of Object.entries(INSTALLATIONS)) {
    await t.test(`look at the cluster as an installation ${what} does`, async (t) => {
      const { metadata, spec } = podInNotes(await notes(values))
      const looking = { ...CHOSEN, ...values, preInstall: { diff: { enabled: true } } }
      const { stdout } = await helm(templateArgs(), looking)
      const pods = podsIn(objectsIn(stdout))
      const job = pods.find(({ name }) => name === `${BASELINE.name}-diff`)
      const isOfJob = (arg: string) => /^--(fail-on|activation)=/.test(arg)
      const [container] = job?.spec.containers ?? []
      const args = container.args.filter((arg: string) => !isOfJob(arg))
      t.strictSame(spec, {
        ...job?.spec,
        serviceAccountName: BASELINE.reconcilerAccount,
        containers: [{ ...container, args }],
      })
      t.strictSame(metadata.annotations, job?.annotations)
    })
  }

  await t.test('are to be pasted, whatever is in the values', async (t) => {
    const podAnnotations = { 'example.com/owner': "the admins' own" }
    t.match(podInNotes(await notes({ podAnnotations })).metadata, { annotations: podAnnotations })
  })
})
