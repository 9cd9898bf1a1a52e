import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { evaluatorPath } from '../../../../src/cli/graph/evaluator.ts'

t.test(
  'the evaluator is the one of the option, else of the variable, else of the image',
  async (t) => {
    const folder = t.testdir()
    const [option = '', variable = '', beside = ''] = ['a', 'b', 'c'].map((name) => {
      const file = join(folder, name)
      writeFileSync(file, '')
      return file
    })
    const env = { CUE_EVALUATOR: variable }
    t.equal(evaluatorPath(option, env, beside), option)
    t.equal(evaluatorPath(undefined, env, beside), variable)
    t.equal(evaluatorPath(undefined, { CUE_EVALUATOR: '' }, beside), beside)
  },
)

t.test('where there is none, the error says what to do', async (t) => {
  const way = /--cue-evaluator or CUE_EVALUATOR; in a clone, npm run -s cue-evaluator /
  t.throws(() => evaluatorPath(undefined, {}), {
    name: 'UsageError',
    message: /^there is no cue-evaluator: /,
  })
  t.throws(() => evaluatorPath(undefined, {}), way)
  t.throws(() => evaluatorPath(t.testdir(), {}), / is no file: /)
  t.throws(() => evaluatorPath(undefined, { CUE_EVALUATOR: '/nowhere' }), {
    message: /^\/nowhere is no file: /,
  })
})
