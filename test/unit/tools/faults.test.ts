import t from 'tap'
import { faultTable } from '../../../tools/generate/faults.ts'

const call = (object: string) => `await faultTest(t, ${object}, async (t: Test) => undefined)\n`
const table = (text: string) => faultTable([{ path: 'test/cluster/a.test.ts', text }])

t.test('lists each fault that a test shows, from what everything stands on outwards', async (t) => {
  const text = `import { faultTest, type Fault } from '../../cluster/harness/fault.ts'
${call("{ part: 'webhook', fault: 'it hangs', outcome: 'a | b' }")}
for (const way of ['one'] as const)
  ${call('{ part: `API server`, fault: "it is gone", outcome: \'both wait\' }')}
await somethingElse(t, { part: 'webhook' })`
  t.equal(
    table(text),
    `| part | what breaks | what happens | shown by |
|---|---|---|---|
| API server | it is gone | both wait | \`test/cluster/a.test.ts\` |
| webhook | it hangs | a \\| b | \`test/cluster/a.test.ts\` |`,
  )
})

t.test('refuses what it could not list, with the line', async (t) => {
  const wrong = [
    '{ part: "webhook", fault: "x" }',
    '{ part: "webhook", fault: name, outcome: "y" }',
    `{ part: "webhook", fault: \`x \${name}\`, outcome: "y" }`,
    '{ part: "weather", fault: "x", outcome: "y" }',
    'declared',
  ]
  for (const object of wrong)
    t.throws(() => table(`\n${call(object)}`), {
      message: /^test\/cluster\/a\.test\.ts:2: faultTest needs an object with part, fault, outcome/,
    })
})
