import t from 'tap'

import { type DiffOptions, diff } from '../../../../src/cli/diff/diff.ts'
import { UsageError } from '../../../../src/cli/run-cli.ts'

const asked = (more: Partial<DiffOptions>) =>
  diff({ namespace: 'n', kubeconfig: '/none', output: 'text', failOn: 'reboot', ...more }, {})

t.test('reboots that wait for nobody cannot be asked for', async (t) => {
  await t.rejects(asked({ disruptiveChanges: 'apply' }), UsageError)
  const others: readonly Partial<DiffOptions>[] = [
    {},
    { disruptiveChanges: 'hold' },
    { disruptiveChanges: 'apply', failOn: 'change' },
  ]
  for (const more of others) await t.rejects(asked(more), { message: /\/none/ })
})
